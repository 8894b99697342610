# An output written to an input tells that the sizes of that are zero.
def f(fd):
    a = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    b = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(a, dims=[1], keepdim=True) + a * 2.0, a)
    fd.add_output(fd.ops.expand(fd.ops.sum(b, dims=[0], keepdim=True), [0, 0]), b)

inputs = [torch.zeros((0, 0)), torch.zeros((0, 0))]

# ---- expect
# f32[0, 0] =
# f32[0, 0] =
