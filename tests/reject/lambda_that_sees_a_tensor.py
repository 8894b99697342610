def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.fold(T0, lambda a, b: a + b * T0, init=0.0, dims=[0]))

# ---- expect
# 3:56: a lambda cannot see `T0`
#     fd.add_output(fd.ops.fold(T0, lambda a, b: a + b * T0, init=0.0, dims=[0]))
#                                                        ^^ expected a parameter or a number
# help: give it to the fold as one more tensor, whose element the lambda then combines
