def gather_after_a_fold(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    sums = fd.ops.sum(x, dims=[1])
    fd.add_output(fd.ops.index_select(sums, index, dim=0))

inputs = [torch.randn((500, 300)), torch.randint(0, 500, (700,))]

# ---- expect
# segment seg0 -> sums
# segment seg1 -> tv3
#
# segment  ops  reads      writes   passes  runs as  recomputed
# seg0     1    585.9 KiB  2.0 KiB  1       kernel   0
# seg1     1    7.4 KiB    2.7 KiB  1       kernel   0
#
# seg0: sums <- x
#
# seg1: tv3 <- index, sums
#
# seg0 -> seg1: sums (2.0 KiB); in one kernel sums is read at other indices than it is computed at, after the fold n2
#
# 602.0 KiB moved, 594.1 KiB compulsory, traffic ratio 1.013
# peak memory 4.7 KiB, inputs not counted
# model: 26.3 us, no cut below 26.2 us (gap 0.5 %)
