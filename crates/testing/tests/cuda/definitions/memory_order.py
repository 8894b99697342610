# Outputs with their axes in another order in memory, of an input and of what is computed.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.stride_order(fd.ops.exp(x), [0, 1]))
    fd.add_output(fd.ops.stride_order(fd.ops.cast(fd.ops.sum(x, dims=[0]), DataType.Half), [0]))

inputs = [torch.randn(4, 4)]
