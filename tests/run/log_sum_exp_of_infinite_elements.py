# What rescaled sums are where the maximum is infinite: of one infinite element its own, of several NaN, or with a guard their
# number; NaN and -inf as in the elements. Rows are so long that each state is a fold of its own.
def log_sum_exp_of_infinite_elements(fd):
    x = fd.define_tensor(shape=[6, 4096], contiguity=True, dtype=DataType.Float)
    row = fd.ops.broadcast_in_dim(fd.ops.iota(6, dtype=DataType.Int), shape=[6, 4096], broadcast_dims=[0])
    place = fd.ops.broadcast_in_dim(fd.ops.iota(4096, dtype=DataType.Int), shape=[6, 4096], broadcast_dims=[1])
    one = fd.ops.logical_and(fd.ops.eq(place, 700), fd.ops.gt(row, 0))
    several = fd.ops.logical_and(fd.ops.eq(fd.ops.remainder(place, 1000), 7), fd.ops.eq(row, 2))
    x = fd.ops.where(fd.ops.logical_or(fd.ops.logical_and(one, fd.ops.le(row, 2)), several), float("inf"), x)
    x = fd.ops.where(fd.ops.eq(row, 3), float("-inf"), x)
    x = fd.ops.where(fd.ops.logical_and(one, fd.ops.eq(row, 4)), float("nan"), x)
    x = fd.ops.where(fd.ops.logical_and(one, fd.ops.eq(row, 5)), float("-inf"), x)
    ones = fd.ops.full(shape=[6, 4096], fill_value=1.0, dtype=DataType.Float)
    halves = fd.ops.full(shape=[6, 4096], fill_value=0.5, dtype=DataType.Float)
    largest, smaller, weighted = fd.ops.fold(
        [x, ones, halves],
        lambda a, s, v, b, t, w: [
            fd.ops.maximum(a, b),
            fd.ops.where(a > b, s, t)
            + fd.ops.where(a > b, t, s) * fd.ops.exp(fd.ops.minimum(a, b) - fd.ops.maximum(a, b)),
            fd.ops.where(a > b, v, w)
            + fd.ops.where(a > b, w, v) * fd.ops.exp(fd.ops.minimum(a, b) - fd.ops.maximum(a, b)),
        ],
        init=[-3e38, 0.0, 0.0],
        dims=[1],
    )
    _, guarded = fd.ops.fold(
        [x, ones],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            s * fd.ops.where(a == fd.ops.maximum(a, b), 1.0, fd.ops.exp(a - fd.ops.maximum(a, b)))
            + t * fd.ops.where(b == fd.ops.maximum(a, b), 1.0, fd.ops.exp(b - fd.ops.maximum(a, b))),
        ],
        init=[-3e38, 0.0],
        dims=[1],
    )
    _, both = fd.ops.fold(
        [x, ones],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            s * fd.ops.exp(a - fd.ops.maximum(a, b)) + t * fd.ops.exp(b - fd.ops.maximum(a, b)),
        ],
        init=[-3e38, 0.0],
        dims=[1],
    )
    fd.add_output(largest)
    fd.add_output(smaller)
    fd.add_output(weighted)
    fd.add_output(guarded)
    fd.add_output(both)

inputs = [torch.randn(6, 4096)]

# ---- expect
# f32[6] = 3.3596866, float("inf"), float("inf"), -3e38, float("nan"), 3.7400618
# f32[6] = 235.99326, 1.0, float("nan"), 0.0, float("nan"), 165.37637
# f32[6] = 117.99663, 0.5, float("nan"), 0.0, float("nan"), 82.68819
# f32[6] = 235.99326, 1.0, 6.0, 0.0, float("nan"), 165.37637
# f32[6] = 235.99326, float("nan"), float("nan"), 0.0, float("nan"), 165.37637
