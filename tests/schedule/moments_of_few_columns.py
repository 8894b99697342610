# test: target=avx512
# All states are in L1, and rows of a block lie behind each other: they are read one by one.
def moments(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    variance, mean = fd.ops.var_mean(x, dims=[0], correction=0)
    fd.add_output(variance)
    fd.add_output(mean)

inputs = [torch.randn((16384, 512))]

# ---- expect
# # seg0
# schedule lanes 64
# block x1 by 1024
# block x0 by 256
# inner x1
# lane x1
