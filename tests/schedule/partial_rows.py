# Partial results are as long as a row: blocks take sixteen rows, though there were work for four times as many blocks. The
# scratch of a block is in L2, so that rows share it.
def backward(fd):
    grad = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    grad = fd.ops.cast(grad, dtype=DataType.Float)
    x = fd.ops.cast(x, dtype=DataType.Float)
    product = fd.ops.mul(grad, x)
    share = fd.ops.broadcast(fd.ops.sum(product, dims=[1]), [False, True])
    dx = fd.ops.sub(grad, fd.ops.mul(x, share))
    fd.add_output(fd.ops.cast(dx, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.sum(product, dims=[0]))

inputs = [torch.randn((256, 65536), dtype=torch.bfloat16), torch.randn((256, 65536), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# schedule lanes 16
# block x0 by 16
# inner x1
# lane x1
# jam x0 by 4
# prefetch x0 by 1 L2
