# test: target=sm_90
# A block walks few tiles, so that there are blocks enough for all multiprocessors to have as many as fit.
def transpose_add(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.permute(x, dims=[1, 0]), y))

inputs = [torch.randn((8192, 4096)), torch.randn((4096, 8192))]

# ---- expect
# # seg0
# schedule lanes 64 warps 32
# block x1 by 64
# block x0 by 128
# inner x1
# inner x0
# lane x0
# tile x1 by 64 pad 1
