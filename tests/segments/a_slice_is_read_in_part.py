# A kernel that needs sixteen rows of an input reads sixteen rows.
def a_slice_is_read_in_part(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.slice(x, [0, 0], [16, fd.ops.size(x, 1)])
    fd.add_output(fd.ops.add(y, 1.0))


inputs = [torch.randn((2048, 256))]

# ---- expect
# segment seg0 -> tv2
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     2    16.0 KiB  16.0 KiB  1       kernel   0
#
# seg0: tv2 <- x
#
# 32.0 KiB moved, 32.0 KiB compulsory, traffic ratio 1.000
# peak memory 16.0 KiB, inputs not counted
# model: 3.1 us, which no other cut can beat
