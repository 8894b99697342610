# A kernel reads six elements of what a library reads as a whole.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.matmul(x, y))
    fd.add_output(fd.ops.sum(fd.ops.slice(x, [0, 0], [2, 3]), [1]))

# ---- expect
# segment seg0 -> tv2
# segment seg1 -> tv4
#
# segment  ops  reads    writes   passes  runs as         recomputed
# seg0     1    8.0 MiB  4.0 MiB  1       library matmul  0
# seg1     2    24 B     8 B      1       kernel          0
#
# seg0: tv2 <- x, y
#
# seg1: tv4 <- x
#
# pattern matmul -> tv2: in seg0; a library multiplies: only shallow products are taken apart
#
# 12.0 MiB moved, 12.0 MiB compulsory, traffic ratio 1.000
# peak memory 4.0 MiB, inputs not counted
# model: 423.4 us, which no other cut can beat
# sizes that are not given count as i0 = 1024, i1 = 1024, i2 = 1024, i3 = 1024
