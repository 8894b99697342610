# An amount outside 0 to the width, negative ones too, shifts everything out.
def f(fd):
    x = fd.define_tensor(shape=[1, -1], contiguity=True, dtype=DataType.Int)
    n = fd.define_tensor(shape=[-1, 1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.bitwise_left_shift(x, n))
    fd.add_output(fd.ops.bitwise_right_shift(x, n))
    fd.add_output(fd.ops.logical_right_shift(x, n))
    x32 = fd.ops.cast(x, dtype=DataType.Int32)
    n32 = fd.ops.cast(n, dtype=DataType.Int32)
    fd.add_output(fd.ops.bitwise_left_shift(x32, n32))
    fd.add_output(fd.ops.bitwise_right_shift(x32, n32))
    fd.add_output(fd.ops.logical_right_shift(x32, n32))
    x64 = fd.ops.cast(x, dtype=DataType.UInt64)
    n64 = fd.ops.cast(n, dtype=DataType.UInt64)
    fd.add_output(fd.ops.bitwise_left_shift(x64, n64))
    fd.add_output(fd.ops.bitwise_right_shift(x64, n64))
    fd.add_output(fd.ops.logical_right_shift(x64, n64))

inputs = [torch.arange(-8, 9, 16).reshape(1, 2), torch.arange(-1, 66, 33).reshape(3, 1)]

# ---- expect
# i64[3, 2] = 0, 0, -34359738368, 34359738368, 0, 0
# i64[3, 2] = -1, 0, -1, 0, -1, 0
# i64[3, 2] = 0, 0, 4294967295, 0, 0, 0
# i32[3, 2] = 0, 0, 0, 0, 0, 0
# i32[3, 2] = -1, 0, -1, 0, -1, 0
# i32[3, 2] = 0, 0, 0, 0, 0, 0
# u64[3, 2] = 0, 0, 18446744039349813248, 34359738368, 0, 0
# u64[3, 2] = 0, 0, 4294967295, 0, 0, 0
# u64[3, 2] = 0, 0, 4294967295, 0, 0, 0
