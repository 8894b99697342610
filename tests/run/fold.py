# Folds of a monoid that a lambda gives, over one tensor and over two, and of one that goes by name.
def fold(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    ones = fd.ops.full([1, 1], 1, DataType.Int)
    T1 = fd.ops.fold(T0, lambda a, b: fd.ops.bitwise_xor(a, b), init=0, dims=[1])
    T2, T3 = fd.ops.fold(
        [T0, ones],
        lambda m, n, x, k: [fd.ops.maximum(m, x), fd.ops.where(m == x, n + k, fd.ops.where(m > x, n, k))],
        init=[-1000, 0],
        dims=[0],
    )
    T4, T5, T6 = fd.ops.fold(fd.ops.cast(T0, DataType.Float), "welford", dims=[0, 1])
    T7 = fd.ops.fold(T0, combine=lambda a, b: a + b, init=0.0, dims=[0], keepdim=True)
    fd.add_output(T1)
    fd.add_output(T2)
    fd.add_output(T3)
    fd.add_output(T4)
    fd.add_output(T5)
    fd.add_output(T6)
    fd.add_output(T7)

inputs = [torch.arange(8, dtype=torch.int64).reshape(2, 4)]

# ---- expect
# i64[2] = 0, 0
# i64[4] = 4, 5, 6, 7
# i64[4] = 1, 1, 1, 1
# f32[] = 3.5
# f32[] = 42.0
# f32[] = 8.0
# i64[1, 4] = 4, 6, 8, 10
