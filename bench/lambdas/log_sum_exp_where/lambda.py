# The logarithm of a sum of exponentials in one fold that rescales the sum of the smaller maximum alone.
def log_sum_exp_where(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    ones = fd.ops.full(shape=[rows, columns], fill_value=1.0, dtype=DataType.Float)
    largest, total = fd.ops.fold(
        [x, ones],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            fd.ops.where(a > b, s, t)
            + fd.ops.where(a > b, t, s) * fd.ops.exp(fd.ops.minimum(a, b) - fd.ops.maximum(a, b)),
        ],
        init=[-3e38, 0.0],
        dims=[1],
        keepdim=True,
    )
    fd.add_output(fd.ops.log(total) + largest)

inputs = [torch.randn(32, 1000)]
