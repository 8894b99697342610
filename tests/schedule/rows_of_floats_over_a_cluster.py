# test: target=sm_90
# Floats are read again for each stage unless a cluster keeps what it computes of them.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 16384))]

# ---- expect
# # seg0
# schedule lanes 512 warps 32
# block x0 by 1
# inner x1
# lane x1
# width 4
# persist n8 narrow
# private
