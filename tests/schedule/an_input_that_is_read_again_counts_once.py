# x lies along rows of tokens and is read three times; the table and the result lie along channels. Lanes go along channels, which
# have more bytes, though x would have more if it counted as often. Tiles transpose x.
def normalised(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[256, 512], contiguity=True, dtype=DataType.Float)
    table = fd.define_tensor(shape=[512, 256], contiguity=True, dtype=DataType.Float)
    half = fd.ops.add(fd.ops.mul(x, fd.ops.sigmoid(x)), x)
    tokens = fd.ops.add(fd.ops.permute(half, [1, 0]), table)
    mean = fd.ops.mean(tokens, dims=[1], keepdim=True)
    fd.add_output(fd.ops.sub(tokens, mean))

# ---- expect
# # seg0
# schedule lanes 16
# block x1 by 64
# inner x1
# inner x0
# lane x0
# tile x1 by 64
# persist n22
