# test: target=sm_90
# Rows that a cluster of four blocks has in registers.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Float), dim=1)
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))

inputs = [torch.randn((256, 65536), dtype=torch.bfloat16)]

# ---- expect
# seg0: block 128 of 256
#   8192 sectors, of 8192 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
