def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# seg0
#   seg0: ((i0 + 15) // 16) blocks of 32 lanes
#     buffers input 0, store 0
#     arguments i0, i1
