# The moments and the weights of an optimiser's step are written where they were read.
def adam(fd):
    weight = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    grad = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    mean = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    square = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    new_mean = fd.ops.lerp(grad, mean, 0.5)
    new_square = fd.ops.lerp(fd.ops.mul(grad, grad), square, 0.5)
    step = fd.ops.div(new_mean, fd.ops.add(fd.ops.sqrt(new_square), 1.0))
    fd.add_output(fd.ops.sub(weight, fd.ops.mul(step, 0.25)), weight)
    fd.add_output(new_mean, mean)
    fd.add_output(new_square, square)

inputs = [
    torch.arange(0, 4, 1, dtype=torch.float32),
    torch.full((4,), 2, dtype=torch.float32),
    torch.zeros(4),
    torch.full((4,), 4, dtype=torch.float32),
]

# ---- expect
# f32[4] = -0.083333336, 0.9166667, 1.9166666, 2.9166667
# f32[4] = 1.0, 1.0, 1.0, 1.0
# f32[4] = 4.0, 4.0, 4.0, 4.0
