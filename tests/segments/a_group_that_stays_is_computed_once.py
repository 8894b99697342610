# Without the group both segments would compute the cast again from `x`, which moves fewer bytes.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    with fd.group("once", stay=True):
        y = fd.ops.cast(x, dtype=DataType.Float)
    rows = fd.ops.sum(y, dims=[1], keepdim=True)
    columns = fd.ops.sum(fd.ops.div(y, rows), dims=[0], keepdim=True)
    fd.add_output(fd.ops.mul(y, columns))

inputs = [torch.rand((64, 128), dtype=torch.bfloat16)]

# ---- expect
# segment seg0 -> y, rows
# segment seg1 -> tv5
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     3    16.0 KiB  32.2 KiB  1       kernel   0
# seg1     4    32.2 KiB  32.0 KiB  1       kernel   0
#
# seg0: y, rows <- x
#
# seg1: tv5 <- y, rows
#
# group once (stays in one segment): in seg0
#
# seg0 -> seg1: y (32.0 KiB); in one kernel n2 leaves no axis that workers could divide
# seg0 -> seg1: rows (256 B); in one kernel n2 leaves no axis that workers could divide
#
# 112.5 KiB moved, 48.0 KiB compulsory, traffic ratio 2.344
# peak memory 64.2 KiB, inputs not counted
# model: 8.9 us, no cut below 7.4 us (gap 17.3 %)
