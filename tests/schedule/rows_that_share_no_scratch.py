# One fold over rows lies in scratch: that is not worth more rows at a time. Blocks take long runs of each row.
def gelu_bias_backward(fd):
    grad = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    normal = fd.ops.exp(fd.ops.mul(fd.ops.mul(x, x), fd.define_scalar(-0.5)))
    slope = fd.ops.add(fd.ops.erf(x), fd.ops.mul(fd.ops.mul(x, normal), fd.define_scalar(0.8)))
    dx = fd.ops.mul(grad, fd.ops.add(slope, fd.define_scalar(1.0)))
    fd.add_output(dx)
    fd.add_output(fd.ops.sum(dx, dims=[0]))

inputs = [torch.randn((2048, 16384)), torch.randn((2048, 16384))]

# ---- expect
# # seg0
# schedule lanes 32
# block x1 by 8192
# block x0 by 64
# inner x1
# lane x1
