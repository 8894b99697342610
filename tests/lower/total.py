def total(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((1000000,))]

# ---- expect
# seg0
#   temporary 0: f32[((i0 + 16383) // 16384)]
#   seg0: ((i0 + 16383) // 16384) blocks of 32 lanes
#     buffers input 0, temporary 0
#     arguments i0
#   seg0_combine0: 1 blocks of 32 lanes
#     buffers temporary 0, store 0
#     arguments i0
