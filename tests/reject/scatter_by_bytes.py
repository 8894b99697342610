def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    i = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Char)
    fd.add_output(fd.ops.scatter(x, i, x, 0))

# ---- expect
# 4:37: `scatter`: argument `index` must be a tensor of i64 or i32, but is one of i8
#     fd.add_output(fd.ops.scatter(x, i, x, 0))
#                                     ^ expected a tensor of i64 or i32
