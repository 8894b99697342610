# Two segments need the constant tensor, and neither reads it from the other: what only constants go into is made anywhere.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    full = fd.ops.full(shape=[64, 128], fill_value=fd.define_scalar(1.5), dtype=DataType.Float)
    rows = fd.ops.iota(fd.define_scalar(64), fd.define_scalar(0), fd.define_scalar(1), dtype=DataType.Float)
    columns = fd.ops.iota(fd.define_scalar(128), fd.define_scalar(0), fd.define_scalar(1), dtype=DataType.Float)
    rows = fd.ops.broadcast_in_dim(rows, shape=[64, 128], broadcast_dims=[0])
    columns = fd.ops.broadcast_in_dim(columns, shape=[64, 128], broadcast_dims=[1])
    eye = fd.ops.cast(fd.ops.eq(rows, columns), dtype=DataType.Float)
    cut = fd.ops.segment_set(fd.ops.add(fd.ops.add(x, full), eye))
    fd.add_output(fd.ops.mul(fd.ops.add(cut, full), eye))

inputs = [torch.rand((64, 128))]

# ---- expect
# segment seg0 -> cut
# segment seg1 -> tv12
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     13   32.0 KiB  32.0 KiB  1       kernel   0
# seg1     12   32.0 KiB  32.0 KiB  1       kernel   10
#
# seg0: cut <- x
#
# seg1: tv12 <- cut
#   n2 again saves reading 4 B
#   full again saves reading 32.0 KiB
#   rows again saves reading 256 B
#   columns again saves reading 512 B
#   n8 again saves reading 256 B
#   tv4 again saves reading 32.0 KiB
#   n10 again saves reading 512 B
#   tv5 again saves reading 32.0 KiB
#   tv6 again saves reading 8.0 KiB
#   eye again saves reading 32.0 KiB
#
# seg0 -> seg1: cut (32.0 KiB); in one kernel cut is a boundary that the definition asks for
#
# 128.0 KiB moved, 64.0 KiB compulsory, traffic ratio 2.000
# peak memory 64.0 KiB, inputs not counted
# model: 9.2 us, within 0.1 % of a bound for every cut
