# Twice the factor of a tanh is past the ends of f32, and so is the left product before the right one's factor is less.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.add(fd.ops.tanh(fd.ops.mul(x, 2e38)), 1.0)
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))
    large = fd.ops.mul(fd.ops.mul(x, 1e9), 1267650600228229401496703205376.0)
    small = fd.ops.mul(fd.ops.exp(x), 7.888609052210118e-31)
    fd.add_output(fd.ops.cast(fd.ops.mul(large, small), dtype=DataType.BFloat16))

inputs = [torch.arange(-1, 2, 1, dtype=torch.float32)]

# ---- expect
# bf16[3] = 0.0, 1.0, 2.0
# bf16[3] = float("-inf"), 0.0, float("inf")
