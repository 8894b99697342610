# test: target=h200
# The sums of 65536 columns are more than a block's memory: blocks divide the row, whose sum leaves partial results.
def sums(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[1]))
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((16384, 65536))]

# ---- expect
# # seg0
# schedule lanes 256 warps 32
# block x0 by 42
# block x1 by 12288
# inner x1
# lane x1
# width 4
# combine by 64
# combine by 256 teams 2
