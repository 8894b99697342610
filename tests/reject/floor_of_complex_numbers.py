def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.ComplexDouble)
    fd.add_output(fd.ops.floor(x))

# ---- expect
# 3:32: `floor`: argument `x` must be real, as `floor` is not defined for complex numbers, but is c128
#     fd.add_output(fd.ops.floor(x))
#                                ^ expected real, as `floor` is not defined for complex numbers
