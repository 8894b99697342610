# test: target=avx512
# Chan's combine of means, squared deviations and counts is the built-in fold; counts in integers are added up; what is divided by
# one element less stays a lambda.
def moments_by_lambdas(fd):
    x = fd.define_tensor(shape=[-1, 1000], contiguity=True, dtype=DataType.Float)
    zeros = fd.ops.full(shape=[1, 1], fill_value=0.0, dtype=DataType.Float)
    ones = fd.ops.full(shape=[1, 1], fill_value=1.0, dtype=DataType.Float)
    wholes = fd.ops.full(shape=[1, 1], fill_value=1, dtype=DataType.Int)
    mean, squares, count = fd.ops.fold(
        [x, zeros, ones],
        lambda m, s, n, mean, squares, count: [
            (m * n + mean * count) / fd.ops.maximum(n + count, 1.0),
            squares + n * count * (mean - m) * (mean - m) / fd.ops.maximum(n + count, 1.0) + s,
            n + count,
        ],
        init=[0.0, 0.0, 0.0],
        dims=[1],
    )
    number, deviations, center = fd.ops.fold(
        [wholes, zeros, x],
        lambda n, s, m, count, squares, mean: [
            n + count,
            s + squares + (mean - m) * (mean - m) * (fd.ops.cast(n, DataType.Float) / fd.ops.cast(n + count, DataType.Float)
                * fd.ops.cast(count, DataType.Float)),
            m + (mean - m) * (fd.ops.cast(count, DataType.Float) / fd.ops.cast(n + count, DataType.Float)),
        ],
        init=[0, 0.0, 0.0],
        dims=[1],
    )
    other, less, _ = fd.ops.fold(
        [x, zeros, ones],
        lambda m, s, n, mean, squares, count: [
            m + (mean - m) * count / fd.ops.maximum(n + count, 1.0),
            s + squares + (mean - m) * (mean - m) * n * count / fd.ops.maximum(n + count - 1.0, 1.0),
            n + count,
        ],
        init=[0.0, 0.0, 0.0],
        dims=[1],
    )
    fd.add_output(mean)
    fd.add_output(squares)
    fd.add_output(count)
    fd.add_output(number)
    fd.add_output(deviations)
    fd.add_output(center)
    fd.add_output(other)
    fd.add_output(less)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, 1000], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.ops.full(shape=[1, 1], fill_value=0.0, dtype=DataType.Float)
#     tv2 = fd.ops.full(shape=[1, 1], fill_value=1.0, dtype=DataType.Float)
#     tv3 = fd.ops.full(shape=[1, 1], fill_value=1, dtype=DataType.Int)
#     c0 = fd.ops.size(tv0, dim=0)
#     tv4 = fd.ops.expand(tv1, shape=[c0, 1000])
#     tv5 = fd.ops.expand(tv2, shape=[c0, 1000])
#     tv6 = fd.ops.expand(tv3, shape=[c0, 1000])
#     tv7, tv8, tv9 = fd.ops.fold([tv0, tv4, tv5], combine=lambda a0, a1, a2, b0, b1, b2: [fd.ops.add(a0, fd.ops.div(fd.ops.mul(fd.ops.sub(b0, a0), b2), fd.ops.maximum(fd.ops.add(a2, b2), fd.ops.cast(1.0, DataType.Float)))), fd.ops.add(fd.ops.add(a1, b1), fd.ops.div(fd.ops.mul(fd.ops.mul(fd.ops.mul(fd.ops.sub(b0, a0), fd.ops.sub(b0, a0)), a2), b2), fd.ops.maximum(fd.ops.sub(fd.ops.add(a2, b2), fd.ops.cast(1.0, DataType.Float)), fd.ops.cast(1.0, DataType.Float)))), fd.ops.add(a2, b2)], init=[0.0, 0.0, 0.0], dims=[1])
#     tv10, tv11, tv12 = fd.ops.welford(tv0, dims=[1])
#     tv13 = fd.ops.sum(tv6, dims=[1], dtype=DataType.Int)
#     fd.add_output(tv10)
#     fd.add_output(tv11)
#     fd.add_output(tv12)
#     fd.add_output(tv13)
#     fd.add_output(tv11)
#     fd.add_output(tv10)
#     fd.add_output(tv7)
#     fd.add_output(tv8)
