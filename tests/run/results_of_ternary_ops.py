# Functions of half types stay in Float; clamp, threshold and where give what they are given; None is no bound.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    n = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.addcmul(x, x, x, 0.5))
    fd.add_output(fd.ops.lerp(x, 2.0, 0.25))
    fd.add_output(fd.ops.clamp(x, None, 1.0))
    fd.add_output(fd.ops.clamp(x, 0.0, None))
    fd.add_output(fd.ops.clamp(n, None, None))
    fd.add_output(fd.ops.threshold(x, 0.0, -1.0))
    fd.add_output(fd.ops.where(fd.ops.gt(x, 0.0), x, 7.0))
    fd.add_output(fd.ops.where(fd.ops.gt(n, 0), n, x))
    fd.add_output(fd.ops.addcmul(n, n, n, 2))
    fd.add_output(fd.ops.isreal(n))

inputs = [torch.arange(-2, 3, 1, dtype=torch.bfloat16), torch.arange(-2, 3, 1)]

# ---- expect
# f32[5] = 0.0, -0.5, 0.0, 1.5, 4.0
# f32[5] = -1.0, -0.25, 0.5, 1.25, 2.0
# bf16[5] = -2.0, -1.0, 0.0, 1.0, 1.0
# bf16[5] = 0.0, 0.0, 0.0, 1.0, 2.0
# i64[5] = -2, -1, 0, 1, 2
# bf16[5] = -1.0, -1.0, -1.0, 1.0, 2.0
# bf16[5] = 7.0, 7.0, 7.0, 1.0, 2.0
# bf16[5] = -2.0, -1.0, 0.0, 1.0, 2.0
# i64[5] = 6, 1, 0, 3, 10
# bool[5] = True, True, True, True, True
