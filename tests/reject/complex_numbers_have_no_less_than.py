def f(fd):
    z = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.ComplexFloat)
    fd.add_output(fd.ops.lt(z, z))

# ---- expect
# 3:29: `lt`: argument `lhs` must be real, as `lt` is not defined for complex numbers, but is c64
#     fd.add_output(fd.ops.lt(z, z))
#                             ^ expected real, as `lt` is not defined for complex numbers
