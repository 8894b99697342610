def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.add(x, y))

# ---- expect
# 3:33: `y` is not defined
#     fd.add_output(fd.ops.add(x, y))
#                                 ^ expected a name assigned above
