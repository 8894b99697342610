# Log-sum-exp as init, combine and finalize: one call, whose last part is computed in the kernel of the fold.
def fold_with_finalize(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    ones = fd.ops.full(shape=[fd.ops.size(x, 0), fd.ops.size(x, 1)], fill_value=1.0, dtype=DataType.Float)
    total = fd.ops.fold(
        [x, ones],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            s * fd.ops.exp(a - fd.ops.maximum(a, b)) + t * fd.ops.exp(b - fd.ops.maximum(a, b)),
        ],
        init=[-1e30, 0.0],
        dims=[1],
        finalize=lambda m, s: fd.ops.log(s) + m,
    )
    fd.add_output(total)

inputs = [torch.randn(3, 4)]

# ---- expect
# f32[3] = 1.7102377, 1.234314, 1.8799806
