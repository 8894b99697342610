# A whole number too, but none that a size can be.
def f(fd):
    S0 = fd.define_scalar(None, dtype=DataType.UInt64)
    fd.add_output(fd.ops.full([fd.ops.add(S0, S0)], 1.0, DataType.Float))

inputs = [6000000000000000000]

# ---- expect
# a size comes out as 12000000000000000000, which is beyond the sizes that are computed in u64; `full` on line 4 needs it
