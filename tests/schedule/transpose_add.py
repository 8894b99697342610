def transpose_add(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.permute(x, dims=[1, 0]), y))

inputs = [torch.randn((300, 200)), torch.randn((200, 300))]

# ---- expect
# # seg0
# schedule lanes 16
# block x1 by 64
# block x0 by 1024
# inner x1
# inner x0
# lane x0
# tile x1 by 64
