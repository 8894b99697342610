# Vectors, matrices and batches of them; the sums of bf16 are rounded once; sums over nothing are zero.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True)
    v = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.matmul(x, y))
    fd.add_output(fd.ops.matmul(x, v))
    fd.add_output(fd.ops.matmul(v, y))
    fd.add_output(fd.ops.matmul(v, v))
    fd.add_output(fd.ops.linear(x, fd.ops.permute(y, dims=[1, 0]), bias=fd.ops.mul(v, 0.5)))
    none = fd.ops.slice(x, start_indices=[0, 0], end_indices=[2, 0])
    fd.add_output(fd.ops.matmul(none, fd.ops.permute(none, dims=[1, 0])))
    half = fd.ops.full(shape=[1, 300], fill_value=1.0, dtype=DataType.BFloat16)
    fd.add_output(fd.ops.matmul(half, fd.ops.permute(half, dims=[1, 0])))
    ends = fd.ops.iota(3, start=1, step=1)
    fd.add_output(fd.ops.grouped_mm(x, y, ends))

inputs = [
    torch.arange(0, 6, 1, dtype=torch.float32).reshape(2, 3),
    torch.arange(1, 10, 1, dtype=torch.float32).reshape(3, 3),
    torch.arange(1, 4, 1, dtype=torch.float32),
]

# ---- expect
# f32[2, 3] = 18.0, 21.0, 24.0, 54.0, 66.0, 78.0
# f32[2] = 8.0, 26.0
# f32[3] = 30.0, 36.0, 42.0
# f32[] = 14.0
# f32[2, 3] = 18.5, 22.0, 25.5, 54.5, 67.0, 79.5
# f32[2, 2] = 0.0, 0.0, 0.0, 0.0
# bf16[1, 1] = 300.0
# f32[3, 2, 3] = 0.0, 0.0, 0.0, 3.0, 6.0, 9.0, 4.0, 5.0, 6.0, 16.0, 20.0, 24.0, 14.0, 16.0, 18.0, 35.0, 40.0, 45.0
