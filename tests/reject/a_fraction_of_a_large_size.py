# A third is not what rounding makes of a whole number, however large the number.
def f(fd):
    S0 = fd.define_scalar(None, dtype=DataType.Int)
    fd.add_output(fd.ops.iota(fd.ops.div(fd.ops.cast(S0, DataType.Float), 3.0), 0, 1, DataType.Int))

inputs = [4000000]

# ---- expect
# a size comes out as 1333333.3333333333, which is no whole number; `iota` on line 4 needs it
