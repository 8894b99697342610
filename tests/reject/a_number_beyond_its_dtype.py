# An integer of a narrower dtype would wrap.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.maximum(x, 1099511627776))

# ---- expect
# 4:37: `maximum`: argument `rhs` must be a number that i32 can hold, but is 1099511627776
#     fd.add_output(fd.ops.maximum(x, 1099511627776))
#                                     ^^^^^^^^^^^^^ expected a number that i32 can hold
