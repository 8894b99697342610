# The logarithm of a sum of exponentials in one fold, of the largest element so far and the sum beside it.
def log_sum_exp(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    ones = fd.ops.full(shape=[rows, columns], fill_value=1.0, dtype=DataType.Float)
    largest, total = fd.ops.fold(
        [x, ones],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            s * fd.ops.exp(a - fd.ops.maximum(a, b)) + t * fd.ops.exp(b - fd.ops.maximum(a, b)),
        ],
        init=[-3e38, 0.0],
        dims=[1],
        keepdim=True,
    )
    fd.add_output(fd.ops.log(total) + largest)

inputs = [torch.randn(32, 1000)]
