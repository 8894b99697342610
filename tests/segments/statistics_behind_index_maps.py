# A fold may stand before an index map that moves no axis of its result: the sum of a row serves both of its halves.
# The roll of `z` moves the rows themselves, so it is moved before their fold.
def f(fd):
    x = fd.define_tensor(shape=[-1, 128], contiguity=True)
    y = fd.ops.softmax(x, dim=1)
    rows = fd.ops.size(x, 0)
    left, right = fd.ops.slice(y, [0, 0], [rows, 64]), fd.ops.slice(y, [0, 64], [rows, 128])
    fd.add_output(fd.ops.mul(left, right))
    z = fd.define_tensor(shape=[512, -1], contiguity=True)
    n = fd.ops.sub(z, fd.ops.max(z, dims=[1], keepdim=True))
    columns = fd.ops.size(z, 1)
    head, tail = fd.ops.slice(n, [0, 0], [1, columns]), fd.ops.slice(n, [1, 0], [512, columns])
    fd.add_output(fd.ops.cat([tail, head], dim=0))

inputs = [torch.rand((600, 128)), torch.rand((512, 640))]

# ---- expect
# segment seg0 -> tv4
# segment seg1 -> tv10
#
# segment  ops  reads      writes     passes  runs as  recomputed
# seg0     10   300.0 KiB  150.0 KiB  1       kernel   0
# seg1     6    1.2 MiB    1.2 MiB    1       kernel   0
#
# seg0: tv4 <- x
#
# seg1: tv10 <- z
#
# 2.9 MiB moved, 2.9 MiB compulsory, traffic ratio 1.000
# peak memory 1.4 MiB, inputs not counted
# model: 155.3 us, no cut below 147.8 us (gap 4.8 %)
