def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.bitwise_and(x, x))

# ---- expect
# 3:38: `bitwise_and`: argument `lhs` must be an integer or a bool, but is f32
#     fd.add_output(fd.ops.bitwise_and(x, x))
#                                      ^ expected an integer or a bool
