def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.fold(T0, lambda a, b: a < b, init=0.0, dims=[0]))

# ---- expect
# 3:19: `fold`: argument `combine` must be a lambda that gives f32, but is one that gives bool
#     fd.add_output(fd.ops.fold(T0, lambda a, b: a < b, init=0.0, dims=[0]))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a lambda that gives f32
