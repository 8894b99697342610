def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.fold(T0, "median", dims=[0]))

# ---- expect
# 3:35: `fold`: argument `combine` must be a lambda, or one of sum, prod, max, min, welford, argmax, argmin for as many tensors as it takes, but is "median"
#     fd.add_output(fd.ops.fold(T0, "median", dims=[0]))
#                                   ^^^^^^^^ expected a lambda, or one of sum, prod, max, min, welford, argmax, argmin for as many tensors as it takes
