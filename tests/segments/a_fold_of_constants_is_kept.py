# What is left of a kernel that a value leaves may be none: here tensors that share no axis without the fold.
def a_fold_of_constants_is_kept(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1, 64], contiguity=True, dtype=DataType.Float)
    a = fd.ops.full([3, 8, 64], 2, DataType.Float)
    b = fd.ops.full([3, 8, 64], 2, DataType.Int)
    m = fd.ops.min(b, dims=[0, 1])
    z = fd.ops.mul(x, m)
    fd.add_output(a)
    fd.add_output(b)
    fd.add_output(z)


inputs = [
    torch.randn((64, 64, 64)),
]

# ---- expect
# segment seg0 -> a, b, n9
# segment seg1 -> z
#
# segment  ops  reads    writes    passes  runs as  recomputed
# seg0     7    0 B      18.2 KiB  1       kernel   0
# seg1     1    1.0 MiB  1.0 MiB   1       kernel   0
#
# seg0: a, b, n9 <- nothing
#
# seg1: z <- x, n9
#
# seg0 -> seg1: n9 (256 B); one kernel would do for these two; the segmentation keeps them apart
#
# 2.0 MiB moved, 2.0 MiB compulsory, traffic ratio 1.000
# peak memory 1.0 MiB, inputs not counted
# model: 77.7 us, no cut below 75.7 us (gap 2.6 %)
