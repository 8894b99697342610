# Combined in i32, but of one byte.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Byte)
    fd.add_output(fd.ops.fold(x, lambda a, b: fd.ops.maximum(a, b), init=-1, dims=[0]))

# ---- expect
# 4:74: `fold`: argument `init` must be a number: what stands before any element, but is [-1]
#     fd.add_output(fd.ops.fold(x, lambda a, b: fd.ops.maximum(a, b), init=-1, dims=[0]))
#                                                                          ^^ expected a number: what stands before any element
