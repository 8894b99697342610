# test: target=avx512
# Three states a column are more than half of L1: rows share their loads and stores.
def moments(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    variance, mean = fd.ops.var_mean(x, dims=[0], correction=0)
    fd.add_output(variance)
    fd.add_output(mean)

inputs = [torch.randn((4096, 2048))]

# ---- expect
# # seg0
# schedule lanes 32
# block x1 by 1024
# block x0 by 128
# inner x1
# lane x1
# jam x0 by 8
