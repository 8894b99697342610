# A fold of a slice of one has one element, which repeats; an axis that is squeezed has one, whatever it is computed of.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    row = fd.ops.sum(fd.ops.slice(x, [1, 0], [2, 100]), dims=[1])
    fd.add_output(fd.ops.sub(x, row))
    fd.add_output(fd.ops.mul(x, fd.ops.squeeze(row, dims=[0])))

inputs = [torch.arange(0, 6, 1, dtype=torch.float32).reshape((2, 3))]

# ---- expect
# f32[2, 3] = -12.0, -11.0, -10.0, -9.0, -8.0, -7.0
# f32[2, 3] = 0.0, 12.0, 24.0, 36.0, 48.0, 60.0
