def f(fd):
    n = fd.define_scalar(None, dtype=DataType.Int)
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.neg(x))
    y = fd.ops.full([n, n], fill_value=fd.define_scalar(1.0), dtype=DataType.Float)
    fd.add_output(y)

inputs = [5000000000000, torch.randn((4,))]

# ---- expect
# line 5: `full`: the result, f32 of sizes [5000000000000, 5000000000000], has more bytes than can be counted
