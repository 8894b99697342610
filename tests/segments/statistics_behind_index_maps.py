# A fold may stand before an index map that moves no axis of its result: the sum of a row serves both of its halves, and
# the elements after a rotation by half a row. The rows themselves are moved by the roll of `z`, so its fold is kept.
def f(fd):
    x = fd.define_tensor(shape=[-1, 128], contiguity=True)
    y = fd.ops.softmax(x, dim=1)
    rows = fd.ops.size(x, 0)
    left, right = fd.ops.slice(y, [0, 0], [rows, 64]), fd.ops.slice(y, [0, 64], [rows, 128])
    fd.add_output(fd.ops.mul(left, right))
    fd.add_output(fd.ops.add(y, fd.ops.cat([fd.ops.neg(right), left], dim=1)))
    z = fd.define_tensor(shape=[512, -1], contiguity=True)
    n = fd.ops.sub(z, fd.ops.max(z, dims=[1], keepdim=True))
    columns = fd.ops.size(z, 1)
    head, tail = fd.ops.slice(n, [0, 0], [1, columns]), fd.ops.slice(n, [1, 0], [512, columns])
    fd.add_output(fd.ops.cat([tail, head], dim=0))

inputs = [torch.rand((600, 128)), torch.rand((512, 640))]

# ---- expect
# segment seg0 -> tv4, tv7
# segment seg1 -> tv9
# segment seg2 -> tv13
#
# segment  ops  reads      writes     passes  runs as  recomputed
# seg0     13   300.0 KiB  450.0 KiB  1       kernel   0
# seg1     2    1.2 MiB    2.0 KiB    1       kernel   0
# seg2     4    1.3 MiB    1.2 MiB    1       kernel   0
#
# seg0: tv4, tv7 <- x
#
# seg1: tv9 <- z
#
# seg2: tv13 <- z, tv9
#
# seg1 -> seg2: tv9 (2.0 KiB); in one kernel n is read at other indices than it is computed at, after the fold n16
#
# 4.5 MiB moved, 3.2 MiB compulsory, traffic ratio 1.389
# 1.7 MiB in memory at most of what segments make
