# Three folds over rows lie in scratch and two of each row in registers: two rows are jammed and load and store it once.
def backward(fd):
    grad = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    grad = fd.ops.cast(grad, dtype=DataType.Float)
    x = fd.ops.cast(x, dtype=DataType.Float)
    product = fd.ops.mul(grad, x)
    mean = fd.ops.broadcast(fd.ops.sum(grad, dims=[1]), [False, True])
    share = fd.ops.broadcast(fd.ops.sum(product, dims=[1]), [False, True])
    dx = fd.ops.sub(fd.ops.sub(grad, mean), fd.ops.mul(x, share))
    fd.add_output(fd.ops.cast(dx, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.sum(grad, dims=[0]))
    fd.add_output(fd.ops.sum(product, dims=[0]))
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 1024), dtype=torch.bfloat16), torch.randn((4096, 1024), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# schedule lanes 16
# block x0 by 64
# inner x1
# lane x1
# jam x0 by 2
# prefetch x0 by 1 L2
