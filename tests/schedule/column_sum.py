# Rows of a block lie behind each other: they are read one by one.
def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 512))]

# ---- expect
# # seg0
# schedule lanes 32
# block x1 by 1024
# block x0 by 64
# inner x1
# lane x1
