# test: target=sm_90
# Rows that fit no registers of a block are kept in those of a cluster.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Float), dim=1)
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))

inputs = [torch.randn((256, 65536), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# schedule lanes 2048 warps 32
# block x0 by 1
# inner x1
# lane x1
# width 8
# persist n1 narrow
# persist n12 narrow
# private
# cluster 4
