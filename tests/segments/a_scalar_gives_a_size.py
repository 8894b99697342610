# A scalar among the inputs is a size of what is made.
def a_scalar_gives_a_size(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    n = fd.define_scalar(DataType.Int)
    a = fd.ops.full([n, 8], 2.0, DataType.Float)
    fd.add_output(a)
    fd.add_output(fd.ops.exp(x))


inputs = [torch.randn((64,), dtype=torch.float32), 4096]

# ---- expect
# segment seg0 -> a
# segment seg1 -> tv2
#
# segment  ops  reads  writes     passes  runs as  recomputed
# seg0     2    0 B    128.0 KiB  1       kernel   0
# seg1     1    256 B  256 B      1       kernel   0
#
# seg0: a <- nothing
#
# seg1: tv2 <- x
#
# 128.5 KiB moved, 128.5 KiB compulsory, traffic ratio 1.000
# peak memory 128.2 KiB, inputs not counted
# model: 8.4 us, no cut below 6.4 us (gap 23.8 %)
