def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.fold(T0, lambda a, b: a + b, dims=[0]))

# ---- expect
# 3:19: `fold`: argument `init` must be a number: what stands before any element, but is missing
#     fd.add_output(fd.ops.fold(T0, lambda a, b: a + b, dims=[0]))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a number: what stands before any element
