def f(fd):
    T0 = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.fold(T0, lambda a, b: a + b, init=1j, dims=[0]))

# ---- expect
# 3:60: `fold`: argument `init` must be a number: what stands before any element, but is [0.0+1.0j]
#     fd.add_output(fd.ops.fold(T0, lambda a, b: a + b, init=1j, dims=[0]))
#                                                            ^^ expected a number: what stands before any element
