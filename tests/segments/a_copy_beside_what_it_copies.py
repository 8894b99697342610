# A copy that is given back beside what it copies is no second value, but the segmentation's text names both outputs.
def copies(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    sums = fd.ops.sum(x, dims=[1])
    y = fd.ops.mul(sums, 2.0)
    fd.add_output(y)
    fd.add_output(fd.ops.set(y))
    fd.add_output(fd.ops.sum(fd.ops.sub(x, fd.ops.broadcast(y, [False, True])), dims=[0]))

# ---- expect
# segment seg0 -> y, tv3, tv6
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     5    4.0 MiB  8.0 KiB  1       kernel   0
#
# seg0: y, tv6 <- x
#
# tv3 is copied from y: no two outputs share memory
#
# 4.3 MiB moved, 4.0 MiB compulsory, traffic ratio 1.063
# peak memory 8.0 KiB, inputs not counted
# model: 180.2 us, which no other cut can beat
# sizes that are not given count as i0 = 1024, i1 = 1024
