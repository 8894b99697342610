# The remainder of C takes the sign of the dividend, that of Python the sign of the divisor; by 0 both leave it alone.
def f(fd):
    x = fd.define_tensor(shape=[-1, 1], contiguity=True, dtype=DataType.Int)
    y = fd.define_tensor(shape=[1, -1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.mod(x, y))
    fd.add_output(fd.ops.remainder(x, y))
    fd.add_output(fd.ops.remainder(fd.ops.cast(x, dtype=DataType.Float), fd.ops.cast(y, dtype=DataType.Float)))

inputs = [torch.arange(-7, 8, 7).reshape(3, 1), torch.arange(-3, 4, 3).reshape(1, 3)]

# ---- expect
# i64[3, 3] = -1, -7, -1, 0, 0, 0, 1, 7, 1
# i64[3, 3] = -1, -7, 2, 0, 0, 0, -2, 7, 1
# f32[3, 3] = -1.0, float("nan"), 2.0, 0.0, float("nan"), 0.0, -2.0, float("nan"), 1.0
