def index_select(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.index_select(x, index, dim=0))

inputs = [torch.randn((500, 300)), torch.randint(0, 500, (700,))]

# ---- expect
# seg0
#   seg0: ((i2 + 54) // 55)*((i1 + 1023) // 1024) blocks of 16 lanes
#     buffers input 1, faults, input 0, store 0
#     arguments i1, i2, i0
