def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.fold([T0, T0], lambda a, b: a, init=[0.0, 0.0], dims=[0]))

# ---- expect
# 3:19: `fold`: argument `combine` must be a lambda of 4 parameters, but is one of 2
#     fd.add_output(fd.ops.fold([T0, T0], lambda a, b: a, init=[0.0, 0.0], dims=[0]))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a lambda of 4 parameters
