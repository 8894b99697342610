def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.ComplexFloat)
    fd.add_output(fd.ops.matmul(x, y))

# ---- expect
# 4:33: `matmul`: argument `arg1` must be a tensor of c64, as the others are, but is a value of the program
#     fd.add_output(fd.ops.matmul(x, y))
#                                 ^ expected a tensor of c64, as the others are
