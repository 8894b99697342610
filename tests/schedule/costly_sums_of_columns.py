# test: target=avx512
# An exponential is more work than memory takes: rows lie behind each other, and are read one by one.
def costly(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(fd.ops.exp(x), dims=[0]))

inputs = [torch.randn((16384, 2048))]

# ---- expect
# # seg0
# schedule lanes 64
# block x1 by 8192
# block x0 by 256
# inner x1
# lane x1
