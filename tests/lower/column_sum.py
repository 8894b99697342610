def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 512))]

# ---- expect
# seg0
#   temporary 0: f32[i1*((i0 + 63) // 64)]
#   seg0: ((i1 + 1023) // 1024)*((i0 + 63) // 64) blocks of 32 lanes
#     buffers input 0, temporary 0
#     arguments i0, i1
#   seg0_combine0: ((i1 + 255) // 256) blocks of 32 lanes
#     buffers temporary 0, store 0
#     arguments i0, i1
