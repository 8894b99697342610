# Rows of the softmax are columns of its input: tiles transpose it, and each stage walks the rows of a tile.
def softmax(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[512, 4096], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(fd.ops.permute(x, dims=[1, 0]), dim=1))

# ---- expect
# # seg0
# schedule lanes 16
# block x1 by 64
# inner x1
# inner x0
# lane x0
# tile x1 by 64
# persist n9
