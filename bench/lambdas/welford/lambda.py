# Variance and mean by Welford's combine of two means, squared deviations and counts.
def welford(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    ones = fd.ops.full(shape=[rows, columns], fill_value=1.0, dtype=DataType.Float)
    zeros = fd.ops.full(shape=[rows, columns], fill_value=0.0, dtype=DataType.Float)
    mean, squares, count = fd.ops.fold(
        [x, zeros, ones],
        lambda m, s, n, mean, squares, count: [
            m + (mean - m) * (count / fd.ops.maximum(n + count, 1.0)),
            s + squares + (mean - m) * (mean - m) * (n * count / fd.ops.maximum(n + count, 1.0)),
            n + count,
        ],
        init=[0.0, 0.0, 0.0],
        dims=[1],
    )
    fd.add_output(squares / count)
    fd.add_output(mean)

inputs = [torch.randn(32, 1000)]
