# Never negative, the other's magnitude beside 0; only that of the smallest integer wraps to itself. u64 has no sign.
def f(fd):
    x = fd.define_tensor(shape=[-1, 1], contiguity=True, dtype=DataType.Int)
    y = fd.define_tensor(shape=[1, -1], contiguity=True, dtype=DataType.Int)
    smallest = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.gcd(x, y))
    fd.add_output(fd.ops.gcd(smallest, 0))
    fd.add_output(fd.ops.gcd(smallest, 12))
    fd.add_output(fd.ops.gcd(fd.ops.cast(fd.ops.add(smallest, 2147483648), dtype=DataType.Int32), 6))
    fd.add_output(fd.ops.gcd(fd.ops.cast(smallest, dtype=DataType.UInt64), 12))
    fd.add_output(fd.ops.gcd(fd.ops.cast(x, dtype=DataType.UInt64), 10))

inputs = [
    torch.arange(-6, 7, 6).reshape(3, 1),
    torch.arange(-4, 5, 4).reshape(1, 3),
    torch.full((1,), -9223372036854775807 - 1),
]

# ---- expect
# i64[3, 3] = 2, 6, 2, 4, 0, 4, 2, 6, 2
# i64[1] = -9223372036854775808
# i64[1] = 4
# i32[1] = 2
# u64[1] = 4
# u64[3, 1] = 10, 10, 2
