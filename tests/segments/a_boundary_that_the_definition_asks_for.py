# One kernel could compute all of it.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.segment_set(fd.ops.exp(x))
    fd.add_output(fd.ops.add(y, fd.ops.sin(x)))

inputs = [torch.rand((64, 128))]

# ---- expect
# segment seg0 -> y
# segment seg1 -> tv4
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     2    32.0 KiB  32.0 KiB  1       kernel   0
# seg1     2    64.0 KiB  32.0 KiB  1       kernel   0
#
# seg0: y <- x
#
# seg1: tv4 <- x, y
#
# seg0 -> seg1: y (32.0 KiB); in one kernel y is a boundary that the definition asks for
#
# 160.0 KiB moved, 64.0 KiB compulsory, traffic ratio 2.500
# peak memory 64.0 KiB, inputs not counted
# model: 16.2 us, which no other cut can beat
