# A whole number too, but none that a size can be.
def f(fd):
    S0 = fd.define_scalar(None, dtype=DataType.Int)
    fd.add_output(fd.ops.full([fd.ops.cast(S0, DataType.UInt64)], 1.0, DataType.Float))

inputs = [-1]

# ---- expect
# a size comes out as 18446744073709551615, which is beyond the sizes that are computed in u64; `full` on line 4 needs it
