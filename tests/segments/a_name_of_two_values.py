# A name that the user gives twice is that of the first value; the second has the one in print, by which it is found again.
def f(fd):
    x = fd.define_tensor(shape=[-1, 640], contiguity=True)
    y = fd.ops.sum(x, dims=[0])
    y = fd.ops.segment_set(fd.ops.exp(y))
    y = fd.ops.sum(fd.ops.mul(x, y), dims=[1])
    fd.add_output(y)

inputs = [torch.rand((512, 640))]

# ---- expect
# segment seg0 -> tv3
# segment seg1 -> tv5
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     3    1.2 MiB  2.5 KiB  1       kernel   0
# seg1     3    1.3 MiB  2.0 KiB  1       kernel   0
#
# seg0: tv3 <- x
#
# seg1: tv5 <- x, tv3
#
# seg0 -> seg1: tv3 (2.5 KiB); in one kernel tv3 is a boundary that the definition asks for
#
# 2.6 MiB moved, 1.3 MiB compulsory, traffic ratio 2.065
# peak memory 4.5 KiB, inputs not counted
# model: 103.5 us, which no other cut can beat
