def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.gather(x, index, dim=2))

# ---- expect
# 4:47: `gather`: argument `dim` must be an axis from -2 to 1, but is the number 2
#     fd.add_output(fd.ops.gather(x, index, dim=2))
#                                               ^ expected an axis from -2 to 1
