# Two parameters are scaled by one norm. Their tensors share nothing else, so the bounds of both add up: each gradient is read
# twice, as the norm of all has to be known before any of them is used.
def f(fd):
    p0 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    g0 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    p1 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    g1 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    squares = fd.ops.add(fd.ops.sum(fd.ops.mul(g0, g0)), fd.ops.sum(fd.ops.mul(g1, g1)))
    scale = fd.ops.rsqrt(fd.ops.add(squares, 1e-6))
    fd.add_output(fd.ops.sub(p0, fd.ops.mul(g0, scale)))
    fd.add_output(fd.ops.sub(p1, fd.ops.mul(g1, scale)))

inputs = [torch.rand((2048, 1024)), torch.rand((2048, 1024)), torch.rand((1024, 4096)), torch.rand((1024, 4096))]

# ---- expect
# segment seg0 -> tv7
# segment seg1 -> scale
# segment seg2 -> tv12
# segment seg3 -> tv14
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     2    16.0 MiB  4 B       1       kernel   0
# seg1     5    8.0 MiB   4 B       1       kernel   0
# seg2     2    16.0 MiB  8.0 MiB   1       kernel   0
# seg3     2    32.0 MiB  16.0 MiB  1       kernel   0
#
# seg0: tv7 <- g1
#
# seg1: scale <- g0, tv7
#
# seg2: tv12 <- p0, g0, scale
#
# seg3: tv14 <- p1, g1, scale
#
# one launch for seg2 and seg3
#
# seg0 -> seg1: tv7 (4 B); in one kernel tv5 leaves no axis that workers could divide
# seg1 -> seg2: scale (4 B); in one kernel tv5 leaves no axis that workers could divide
# seg1 -> seg3: scale (4 B); in one kernel tv5 leaves no axis that workers could divide
#
# 96.0 MiB moved, 72.0 MiB compulsory, traffic ratio 1.333
# peak memory 24.0 MiB, inputs not counted
# model: 3663.9 us, within 0.1 % of a bound for every cut
