# What is computed of scalars is a size only where it is not negative.
def f(fd):
    S0 = fd.define_scalar(None, dtype=DataType.Double)
    fd.add_output(fd.ops.full([fd.ops.neg(S0)], 1.0, DataType.Float))

inputs = [2.0]

# ---- expect
# the sizes must satisfy i0 >= 0, but i0 = -2 is computed of scalars; `full` on line 4 needs it
