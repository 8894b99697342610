# A value of one axis that is broadcast along rows here and along columns there, as sizes and counts are equal, has a loop of its
# own for each, as it is computed of constants.
def average_of_neighbours(fd):
    x = fd.define_tensor(shape=[3, 14, 14], contiguity=True, dtype=DataType.Float)
    padded = fd.ops.pad(x, pad_widths=[1, 1, 1, 1])
    rows = fd.ops.add(fd.ops.slice(padded, [0, 0, 1], [3, 14, 15]), fd.ops.slice(padded, [0, 1, 1], [3, 15, 15]))
    count = fd.ops.minimum(fd.ops.iota(14, 1, 1, DataType.Float), 2.0)
    counts = fd.ops.mul(fd.ops.broadcast(count, [False, True]), fd.ops.broadcast(count, [True, False]))
    fd.add_output(fd.ops.div(rows, fd.ops.broadcast(counts, [True, False, False])))

inputs = [torch.randn((3, 14, 14))]

# ---- expect
# segment seg0 -> tv11
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     12   2.3 KiB  2.3 KiB  1       kernel   0
#
# seg0: tv11 <- x
#
# 4.6 KiB moved, 4.6 KiB compulsory, traffic ratio 1.000
# peak memory 2.3 KiB, inputs not counted
# model: 2.2 us, which no other cut can beat
