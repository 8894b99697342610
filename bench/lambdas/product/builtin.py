# Products of rows.
def product(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.prod(fd.ops.cos(x), dims=[1]))

inputs = [torch.randn(32, 1000)]
