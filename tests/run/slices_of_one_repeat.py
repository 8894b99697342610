# A slice of one along an axis of any size has one element, which repeats beside more.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    row = fd.ops.slice(x, [0, 0], [1, 3])
    column = fd.ops.slice(x, [0, 1], [2, 2])
    fd.add_output(fd.ops.sub(x, row))
    fd.add_output(fd.ops.mul(column, x))
    fd.add_output(fd.ops.add(row, column))
    fd.add_output(fd.ops.expand(row, [2, 3]))
    fd.add_output(fd.ops.sub(row, fd.ops.slice(x, [1, 0], [2, 3])))

inputs = [torch.arange(0, 6, 1, dtype=torch.float32).reshape((2, 3))]

# ---- expect
# f32[2, 3] = 0.0, 0.0, 0.0, 3.0, 3.0, 3.0
# f32[2, 3] = 0.0, 1.0, 2.0, 12.0, 16.0, 20.0
# f32[2, 3] = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
# f32[2, 3] = 0.0, 1.0, 2.0, 0.0, 1.0, 2.0
# f32[1, 3] = -3.0, -3.0, -3.0
