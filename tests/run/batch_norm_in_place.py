# Running statistics of a normalization over batches, in place.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.Float)
    running_mean = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    running_var = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    variance, mean = fd.ops.var_mean(x, dims=[0, 2], correction=0)
    centred = fd.ops.sub(x, fd.ops.broadcast(mean, is_broadcast_dim=[True, False, True]))
    fd.add_output(fd.ops.lerp(running_mean, mean, 0.5), running_mean)
    fd.add_output(fd.ops.lerp(running_var, variance, 0.5), running_var)
    fd.add_output(centred)

inputs = [
    torch.arange(0, 8, 1, dtype=torch.float32).reshape(2, 2, 2),
    torch.full((2,), 1, dtype=torch.float32),
    torch.full((2,), 0.75, dtype=torch.float32),
]

# ---- expect
# f32[2] = 1.75, 2.75
# f32[2] = 2.5, 2.5
# f32[2, 2, 2] = -2.5, -1.5, -2.5, -1.5, 1.5, 2.5, 1.5, 2.5
