# Nothing as large would be kept, but the elements cannot be counted.
def f(fd):
    n = fd.define_scalar(None, dtype=DataType.Int)
    y = fd.ops.full([n, n], fill_value=fd.define_scalar(1.0), dtype=DataType.Float)
    fd.add_output(fd.ops.sum(y, dims=[0, 1]))

inputs = [5000000000000]

# ---- expect
# line 4: `full`: the result, f32 of sizes [5000000000000, 5000000000000], has more bytes than can be counted
