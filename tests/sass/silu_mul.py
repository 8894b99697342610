# test: target=sm_90
def silu_mul(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    z = fd.ops.mul(fd.ops.silu(fd.ops.cast(x, dtype=DataType.Float)), y)
    fd.add_output(fd.ops.cast(z, dtype=DataType.BFloat16))

inputs = [torch.randn((64, 512), dtype=torch.bfloat16), torch.randn((64, 512), dtype=torch.bfloat16)]

# ---- expect
# seg0: 48 registers, 0 bytes of local memory, 373 instructions
#   4 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   0 barriers, 0 shuffles, 0 calls in loops
