# Out of range is the nearest there is, NaN is 0, from every float type.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    zero = fd.define_tensor(shape=[-1], contiguity=True)
    strange = fd.ops.div(x, zero)
    huge = fd.ops.mul(x, 3e38)
    fd.add_output(fd.ops.cast(strange, dtype=DataType.Int32))
    fd.add_output(fd.ops.cast(strange, dtype=DataType.Int))
    fd.add_output(fd.ops.cast(strange, dtype=DataType.UInt64))
    fd.add_output(fd.ops.cast(strange, dtype=DataType.Bool))
    fd.add_output(fd.ops.cast(huge, dtype=DataType.Int32))
    fd.add_output(fd.ops.cast(huge, dtype=DataType.Int))
    fd.add_output(fd.ops.cast(huge, dtype=DataType.UInt64))
    wide = fd.ops.cast(huge, dtype=DataType.Double)
    fd.add_output(fd.ops.cast(wide, dtype=DataType.Int32))
    fd.add_output(fd.ops.cast(wide, dtype=DataType.Int))
    fd.add_output(fd.ops.cast(wide, dtype=DataType.UInt64))
    half = fd.ops.cast(huge, dtype=DataType.BFloat16)
    fd.add_output(fd.ops.cast(half, dtype=DataType.Int))
    byte = fd.ops.cast(strange, dtype=DataType.Float8_e5m2)
    fd.add_output(fd.ops.cast(byte, dtype=DataType.Int))
    fd.add_output(fd.ops.cast(fd.ops.mul(x, -2.9), dtype=DataType.Int))

inputs = [torch.arange(-1, 2, 1, dtype=torch.float32), torch.zeros(3)]

# ---- expect
# i32[3] = -2147483648, 0, 2147483647
# i64[3] = -9223372036854775808, 0, 9223372036854775807
# u64[3] = 0, 0, 18446744073709551615
# bool[3] = True, True, True
# i32[3] = -2147483648, 0, 2147483647
# i64[3] = -9223372036854775808, 0, 9223372036854775807
# u64[3] = 0, 0, 18446744073709551615
# i32[3] = -2147483648, 0, 2147483647
# i64[3] = -9223372036854775808, 0, 9223372036854775807
# u64[3] = 0, 0, 18446744073709551615
# i64[3] = -9223372036854775808, 0, 9223372036854775807
# i64[3] = -9223372036854775808, 0, 9223372036854775807
# i64[3] = 2, 0, -2
