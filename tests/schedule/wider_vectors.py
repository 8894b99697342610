# test: target=avx512
def silu_mul(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    z = fd.ops.mul(fd.ops.silu(fd.ops.cast(x, dtype=DataType.Float)), y)
    fd.add_output(fd.ops.cast(z, dtype=DataType.BFloat16))

inputs = [torch.randn((64, 512), dtype=torch.bfloat16), torch.randn((64, 512), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# schedule lanes 32
# fuse x0 x1
# block x1 by 16384
# inner x1
# lane x1
# prefetch x1 by 1024
