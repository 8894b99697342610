# test: target=sm_90
# Doubles that a cluster has in registers, as 256 bytes are enough for those of a thread.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Double), dim=1)
    fd.add_output(fd.ops.cast(y, dtype=DataType.Float))

inputs = [torch.randn((256, 32768), dtype=torch.float32)]

# ---- expect
# # seg0
# schedule lanes 1024 warps 32
# block x0 by 1
# inner x1
# lane x1
# width 4
# persist n1 narrow
# persist n10 narrow
# private
# cluster 2
