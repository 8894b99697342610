# test: target=sm_90
# schedule: lanes 128 warps 32; block x0 by 12; inner x1; lane x1; width 8; private; ring 3 fetch
# Rows are copied to a ring of three in scratch while those before are folded; the weight is loaded once.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.BFloat16)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    size = fd.ops.shape(x)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    scale = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=size, broadcast_dims=[1])
    total = fd.ops.sum(fd.ops.mul(wide, scale), dims=[1], keepdim=True)
    fd.add_output(fd.ops.cast(fd.ops.mul(wide, total), dtype=DataType.BFloat16))
    fd.add_output(fd.ops.sum(wide, dims=[0]))

inputs = [
    torch.randn((8192, 1024), dtype=torch.bfloat16),
    torch.randn((1024,), dtype=torch.bfloat16),
]

# ---- expect
# seg0: 40 registers, 0 bytes of local memory, 493 instructions
#   1 loads of 16 bytes, global
#   9 stores of 16 bytes, global
#   3 copies of 16 bytes, global to shared
#   10 loads of 4 bytes, shared
#   8 loads of 16 bytes, shared
#   1 stores of 4 bytes, shared
#   64 bytes in flight
#   1 barriers, 7 shuffles, 0 calls in loops
# seg0_combine0: 64 registers, 0 bytes of local memory, 619 instructions
#   63 loads of 4 bytes, global
#   30 stores of 4 bytes, global
#   128 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
