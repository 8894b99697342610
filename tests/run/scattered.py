# Elements go where the index says, one after the other: of two for one place the last stays. A number serves for all.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.scatter(x, index, fd.ops.neg(x), dim=1))
    fd.add_output(fd.ops.scatter(x, index, 9.0, dim=0))

inputs = [torch.arange(0, 6, 1, dtype=torch.float32).reshape(2, 3), torch.arange(0, 2, 1).as_strided((2, 2), (0, 1))]

# ---- expect
# f32[2, 3] = -0.0, -1.0, 2.0, -3.0, -4.0, 5.0
# f32[2, 3] = 9.0, 1.0, 2.0, 3.0, 9.0, 5.0
