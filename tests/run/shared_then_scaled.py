# Sizes as numbers: the mean by hand.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Double)
    count = fd.ops.cast(fd.ops.size(x, 1), dtype=DataType.Double)
    fd.add_output(fd.ops.div(fd.ops.sum(x, dims=[1]), count))

inputs = [torch.arange(0, 8, 1, dtype=torch.float64).reshape(2, 4)]

# ---- expect
# f64[2] = 1.5, 5.5
