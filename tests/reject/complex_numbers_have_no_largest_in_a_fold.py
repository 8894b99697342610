def f(fd):
    T0 = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.ComplexFloat)
    fd.add_output(fd.ops.fold(T0, "max", dims=[0]))

# ---- expect
# 3:35: `fold`: argument `combine` must be a lambda, or one of sum, prod, as the tensor is complex, but is "max"
#     fd.add_output(fd.ops.fold(T0, "max", dims=[0]))
#                                   ^^^^^ expected a lambda, or one of sum, prod, as the tensor is complex
