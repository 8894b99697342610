def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.cumsum(x, dim=0, init=1.5))

# ---- expect
# 3:48: `cumsum`: argument `init` must be a number that i32 can hold, but is the number 1.5
#     fd.add_output(fd.ops.cumsum(x, dim=0, init=1.5))
#                                                ^^^ expected a number that i32 can hold
