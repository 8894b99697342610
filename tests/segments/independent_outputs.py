# What shares no axis is not one kernel.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.exp(x))
    fd.add_output(fd.ops.log(y))

inputs = [torch.randn((64, 64)), torch.rand((100,))]

# ---- expect
# segment seg0 -> tv2
# segment seg1 -> tv3
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     1    16.0 KiB  16.0 KiB  1       kernel   0
# seg1     1    400 B     400 B     1       kernel   0
#
# seg0: tv2 <- x
#
# seg1: tv3 <- y
#
# 32.8 KiB moved, 32.8 KiB compulsory, traffic ratio 1.000
# peak memory 16.4 KiB, inputs not counted
# model: 5.7 us, which no other cut can beat
