def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.fold([x], init=[0.0], combine=lambda a, b, c: fd.ops.add(a, b), dims=[0]))

# ---- expect
# 3:19: `fold`: argument `combine` must be a lambda of 2 parameters, but is one of 3
#     fd.add_output(fd.ops.fold([x], init=[0.0], combine=lambda a, b, c: fd.ops.add(a, b), dims=[0]))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a lambda of 2 parameters
