def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# # seg0
# schedule lanes 32
# block x0 by 16
# inner x1
# lane x1
# prefetch x0 by 1 L2
# persist n8
