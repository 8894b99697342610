def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.add(x, fd.define_scalar(1.5, dtype=DataType.Int)))

# ---- expect
# 3:50: `define_scalar`: argument `value` must be a number that i64 can hold, but is the number 1.5
#     fd.add_output(fd.ops.add(x, fd.define_scalar(1.5, dtype=DataType.Int)))
#                                                  ^^^ expected a number that i64 can hold
