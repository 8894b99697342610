# f32 would make a whole number of this quotient, as it has no fractions there.
def f(fd):
    S0 = fd.define_scalar(None, dtype=DataType.Int)
    fd.add_output(fd.ops.iota(fd.ops.div(fd.ops.cast(S0, DataType.Float), 3.0), 0, 1, DataType.Int))

inputs = [40000000]

# ---- expect
# a size comes out as 13333333.333333334, which is beyond the sizes that are computed in f32; `iota` on line 4 needs it
