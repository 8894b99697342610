# u64 beyond the largest i64: division, remainders, comparisons, extrema, shifts and folds have no sign.
def f(fd):
    s = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    x = fd.ops.cast(s, dtype=DataType.UInt64)
    fd.add_output(x)
    fd.add_output(fd.ops.div(x, 10))
    fd.add_output(fd.ops.mod(x, 10))
    fd.add_output(fd.ops.remainder(x, 10))
    fd.add_output(fd.ops.div(x, fd.ops.sub(x, x)))
    fd.add_output(fd.ops.mod(x, fd.ops.sub(x, x)))
    fd.add_output(fd.ops.gt(x, 5))
    fd.add_output(fd.ops.maximum(x, 5))
    fd.add_output(fd.ops.minimum(x, 5))
    fd.add_output(fd.ops.abs(x))
    fd.add_output(fd.ops.neg(x))
    fd.add_output(fd.ops.bitwise_right_shift(x, 1))
    fd.add_output(fd.ops.bitwise_right_shift(x, 64))
    fd.add_output(fd.ops.bitwise_not(x))
    fd.add_output(fd.ops.sign(x))
    fd.add_output(fd.ops.pow(x, 2))
    fd.add_output(fd.ops.max(x))
    fd.add_output(fd.ops.min(x))
    fd.add_output(fd.ops.sum(x))
    fd.add_output(fd.ops.cast(x, dtype=DataType.Float))
    fd.add_output(fd.ops.cast(x, dtype=DataType.Double))
    fd.add_output(fd.ops.cast(x, dtype=DataType.Int32))

inputs = [torch.arange(-2, 3, 1)]

# ---- expect
# u64[5] = 18446744073709551614, 18446744073709551615, 0, 1, 2
# u64[5] = 1844674407370955161, 1844674407370955161, 0, 0, 0
# u64[5] = 4, 5, 0, 1, 2
# u64[5] = 4, 5, 0, 1, 2
# u64[5] = 0, 0, 0, 0, 0
# u64[5] = 18446744073709551614, 18446744073709551615, 0, 1, 2
# bool[5] = True, True, False, False, False
# u64[5] = 18446744073709551614, 18446744073709551615, 5, 5, 5
# u64[5] = 5, 5, 0, 1, 2
# u64[5] = 18446744073709551614, 18446744073709551615, 0, 1, 2
# u64[5] = 2, 1, 0, 18446744073709551615, 18446744073709551614
# u64[5] = 9223372036854775807, 9223372036854775807, 0, 0, 1
# u64[5] = 0, 0, 0, 0, 0
# u64[5] = 1, 0, 18446744073709551615, 18446744073709551614, 18446744073709551613
# u64[5] = 1, 1, 0, 1, 1
# u64[5] = 4, 1, 0, 1, 4
# u64[] = 18446744073709551615
# u64[] = 0
# i64[] = 0
# f32[5] = 1.8446744e19, 1.8446744e19, 0.0, 1.0, 2.0
# f64[5] = 1.8446744073709552e19, 1.8446744073709552e19, 0.0, 1.0, 2.0
# i32[5] = -2, -1, 0, 1, 2
