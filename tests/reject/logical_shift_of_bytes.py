def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Char)
    fd.add_output(fd.ops.logical_right_shift(x, 1))

# ---- expect
# 3:46: `logical_right_shift`: argument `lhs` must be i32, i64 or u64, but is i8
#     fd.add_output(fd.ops.logical_right_shift(x, 1))
#                                              ^ expected i32, i64 or u64
