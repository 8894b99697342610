def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.fold(x, lambda a, a: a + a, 0.0, dims=[0]))

# ---- expect
# 3:44: the parameter `a` is named twice
#     fd.add_output(fd.ops.fold(x, lambda a, a: a + a, 0.0, dims=[0]))
#                                            ^ expected another name
