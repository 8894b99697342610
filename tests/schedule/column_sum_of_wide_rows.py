# Blocks cut the rows, so that one row of a block does not lie behind the other: rows are jammed.
def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 4096))]

# ---- expect
# # seg0
# schedule lanes 16
# block x1 by 1024
# block x0 by 256
# inner x1
# lane x1
# jam x0 by 8
