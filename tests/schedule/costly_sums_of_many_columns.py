# test: target=avx512
# Sums of so many columns are loaded and stored once for eight rows.
def costly(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(fd.ops.exp(x), dims=[0]))

inputs = [torch.randn((4096, 8192))]

# ---- expect
# # seg0
# schedule lanes 32
# block x1 by 8192
# block x0 by 64
# inner x1
# lane x1
# jam x0 by 8
