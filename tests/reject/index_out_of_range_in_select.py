def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    which = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.select(x, which, dim=0))

inputs = [torch.randn((3, 4)), -4]

# ---- expect
# line 4: `select`: index -4 is out of range for axis 0 of size 3
