# What came from a half type fits it again with its sign changed, or chosen among such: rounding it loses nothing.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    less = fd.ops.cast(fd.ops.neg(x), dtype=DataType.BFloat16)
    fd.add_output(fd.ops.mul(fd.ops.cast(less, dtype=DataType.Float), 3.0))
    most = fd.ops.cast(fd.ops.maximum(x, fd.ops.abs(y)), dtype=DataType.BFloat16)
    fd.add_output(fd.ops.add(fd.ops.cast(most, dtype=DataType.Float), fd.ops.cast(less, dtype=DataType.Float)))
    third = fd.ops.cast(fd.ops.mul(x, 0.333), dtype=DataType.BFloat16)
    fd.add_output(fd.ops.mul(fd.ops.cast(third, dtype=DataType.Float), 3.0))

inputs = [torch.arange(-2, 2, 1, dtype=torch.bfloat16), torch.arange(1, 5, 1, dtype=torch.bfloat16)]

# ---- expect
# f32[4] = 6.0, 3.0, -0.0, -3.0
# f32[4] = 3.0, 3.0, 3.0, 3.0
# f32[4] = -1.9921875, -0.99609375, 0.0, 0.99609375
