# Combined in i32, but of one byte.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Char)
    fd.add_output(fd.ops.cummax(x, 0, 300))

# ---- expect
# 4:39: `cummax`: argument `init` must be a number that i8 can hold, but is the number 300
#     fd.add_output(fd.ops.cummax(x, 0, 300))
#                                       ^^^ expected a number that i8 can hold
