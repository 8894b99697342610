# Four rows of each group and their sum side by side: the sum is a single slice of the cat, so it is read where it is made.
def f(fd):
    x = fd.define_tensor(shape=[32, -1], contiguity=True, dtype=DataType.Float)
    width = fd.ops.size(x, 1)
    groups = fd.ops.reshape(fd.ops.exp(x), new_shape=[8, 4, width])
    both = fd.ops.cat([groups, fd.ops.sum(groups, dims=[1], keepdim=True)], dim=1)
    fd.add_output(fd.ops.reshape(both, new_shape=[40, width]))

inputs = [torch.randn((32, 8192))]

# ---- expect
# segment seg0 -> tv5
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     16   1.0 MiB  1.2 MiB  1       kernel   0
#
# seg0: tv5 <- x
#
# 2.2 MiB moved, 2.2 MiB compulsory, traffic ratio 1.000
# peak memory 1.2 MiB, inputs not counted
# model: 166.5 us, no cut below 162.5 us (gap 2.4 %)
