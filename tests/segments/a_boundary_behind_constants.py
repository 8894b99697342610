# What only constants go into is made wherever it is used, but not past a boundary.
def drawn(fd):
    x = fd.define_tensor(shape=[-1, 64], contiguity=True, dtype=DataType.Float)
    draws = fd.ops.segment_set(fd.ops.uniform(0.0, 1.0, shape=[64], dtype=DataType.Float))
    y = fd.ops.add(x, fd.ops.broadcast(draws, is_broadcast_dim=[True, False]))
    fd.add_output(y)

# ---- expect
# segment seg0 -> draws
# segment seg1 -> y
#
# segment  ops  reads      writes     passes  runs as  recomputed
# seg0     10   0 B        256 B      1       kernel   0
# seg1     2    256.2 KiB  256.0 KiB  1       kernel   0
#
# seg0: draws <- nothing
#
# seg1: y <- x, draws
#
# seg0 -> seg1: draws (256 B); in one kernel draws is a boundary that the definition asks for
#
# 512.5 KiB moved, 512.0 KiB compulsory, traffic ratio 1.001
# peak memory 256.2 KiB, inputs not counted
# model: 22.3 us, which no other cut can beat
# sizes that are not given count as i0 = 1024
