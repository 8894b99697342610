def f(fd):
    z = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.ComplexFloat)
    fd.add_output(fd.ops.max(z, [0]))

# ---- expect
# 3:30: `max`: argument `arg` must be real, as `max` is not defined for complex numbers, but is c64
#     fd.add_output(fd.ops.max(z, [0]))
#                              ^ expected real, as `max` is not defined for complex numbers
