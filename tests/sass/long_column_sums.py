# test: target=sm_90
# Rows of 16384 with a fold along rows and along columns: a cluster has rows and column sums in registers.
def centred(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    total = fd.ops.sum(wide, dims=[1], keepdim=True)
    fd.add_output(fd.ops.sum(wide, dims=[0]))
    fd.add_output(fd.ops.cast(fd.ops.sub(wide, total), dtype=DataType.BFloat16))

inputs = [torch.randn((4096, 16384), dtype=torch.bfloat16)]

# ---- expect
# seg0: 52 registers, 0 bytes of local memory, 373 instructions
#   4 loads of 16 bytes, global
#   6 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   32 bytes in flight
#   1 barriers, 10 shuffles, 0 calls in loops
# seg0_combine0: 56 registers, 0 bytes of local memory, 290 instructions
#   8 loads of 4 bytes, global
#   1 stores of 4 bytes, global
#   8 loads of 8 bytes, shared
#   1 stores of 8 bytes, shared
#   32 bytes in flight
#   1 barriers, 0 shuffles, 0 calls in loops
