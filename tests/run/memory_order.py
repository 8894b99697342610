# The elements of outputs do not depend on the order of their axes in memory.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    y = fd.ops.mul(x, 2.0)
    z = fd.ops.stride_order(y, stride_order=[0, 1])
    fd.add_output(z)
    fd.add_output(fd.ops.cast(z, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.sum(z, dims=[0]))
    fd.add_output(fd.ops.stride_order(x, [0, 1]))

inputs = [
    torch.arange(0, 6, 1, dtype=torch.float32).reshape(2, 3),
]

# ---- expect
# f32[2, 3] = 0.0, 2.0, 4.0, 6.0, 8.0, 10.0
# bf16[2, 3] = 0.0, 2.0, 4.0, 6.0, 8.0, 10.0
# f32[3] = 6.0, 10.0, 14.0
# f32[2, 3] = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
