# The smallest integer over -1, 0 and 1: a value each, in every width, and never a trap.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    a = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    b = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.div(x, y))
    fd.add_output(fd.ops.mod(x, y))
    fd.add_output(fd.ops.fmod(x, y))
    fd.add_output(fd.ops.remainder(x, y))
    fd.add_output(fd.ops.truediv(x, y))
    fd.add_output(fd.ops.div(a, b))
    fd.add_output(fd.ops.mod(a, b))
    fd.add_output(fd.ops.fmod(a, b))
    fd.add_output(fd.ops.remainder(a, b))
    fd.add_output(fd.ops.truediv(a, b))

inputs = [
    torch.full((3,), -9223372036854775807 - 1),
    torch.arange(-1, 2, 1),
    torch.full((3,), -2147483648, dtype=torch.int32),
    torch.arange(-1, 2, 1, dtype=torch.int32),
]

# ---- expect
# i64[3] = -9223372036854775808, 0, -9223372036854775808
# i64[3] = 0, -9223372036854775808, 0
# i64[3] = 0, -9223372036854775808, 0
# i64[3] = 0, -9223372036854775808, 0
# f32[3] = 9.223372e18, float("-inf"), -9.223372e18
# i32[3] = -2147483648, 0, -2147483648
# i32[3] = 0, -2147483648, 0
# i32[3] = 0, -2147483648, 0
# i32[3] = 0, -2147483648, 0
# f32[3] = 2147483600.0, float("-inf"), -2147483600.0
