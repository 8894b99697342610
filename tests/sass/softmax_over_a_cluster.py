# test: target=sm_90
# Rows that a cluster of four blocks has in registers.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Float), dim=1)
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))

inputs = [torch.randn((256, 65536), dtype=torch.bfloat16)]

# ---- expect
# seg0: 48 registers, 0 bytes of local memory, 587 instructions
#   4 loads of 16 bytes, global
#   4 stores of 16 bytes, global
#   4 loads of 4 bytes, shared
#   64 bytes in flight
#   1 barriers, 20 shuffles, 0 calls in loops
