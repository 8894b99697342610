# That the groups divide the channels is known of channels of any number, as the reshape asks for it.
def group_norm(fd):
    x = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.group_norm(x, 8, weight))
    batch, channels, width = fd.ops.shape(y)
    groups = fd.ops.reshape(y, new_shape=[batch, 8, -1, width])
    centred = fd.ops.sub(groups, fd.ops.mean(groups, dims=[2, 3], keepdim=True))
    fd.add_output(fd.ops.reshape(centred, new_shape=[batch, channels, width]))

inputs = [torch.randn((16, 32, 512)), torch.randn((32,)), torch.randn((16, 32, 512))]

# ---- expect
# segment seg0 -> tv3
# segment seg1 -> tv7
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     14   1.0 MiB  1.0 MiB  1       kernel   0
# seg1     7    1.0 MiB  1.0 MiB  1       kernel   0
#
# seg0: tv3 <- x, weight
#
# seg1: tv7 <- y
#
# 4.0 MiB moved, 4.0 MiB compulsory, traffic ratio 1.000
# peak memory 2.0 MiB, inputs not counted
# model: 162.8 us, no cut below 160.8 us (gap 1.2 %)
