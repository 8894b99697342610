# A float below zero is 0 as u64, a negative integer wraps: the cast to a float and on is no cast of the integer.
def negative_integers_through_floats(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.cast(fd.ops.cast(x, dtype=DataType.Double), dtype=DataType.UInt64))
    fd.add_output(fd.ops.cast(x, dtype=DataType.UInt64))

inputs = [torch.arange(-2, 2, 1, dtype=torch.int32)]

# ---- expect
# u64[4] = 0, 0, 0, 1
# u64[4] = 18446744073709551614, 18446744073709551615, 0, 1
