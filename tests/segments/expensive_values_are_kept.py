# Computing the logarithm of the gamma function again takes longer than writing and reading its result.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.ops.lgamma(x)
    by_row = fd.ops.div(y, fd.ops.sum(y, dims=[1], keepdim=True))
    by_column = fd.ops.div(y, fd.ops.sum(y, dims=[0], keepdim=True))
    fd.add_output(by_row)
    fd.add_output(by_column)

inputs = [torch.rand((512, 640))]

# ---- expect
# segment seg0 -> y, tv4
# segment seg1 -> by_row, by_column
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     3    1.2 MiB  1.3 MiB  1       kernel   0
# seg1     4    1.3 MiB  2.5 MiB  1       kernel   0
#
# seg0: y, tv4 <- x
#
# seg1: by_row, by_column <- y, tv4
#
# seg0 -> seg1: y (1.2 MiB); in one kernel n2 leaves no axis that workers could divide
# seg0 -> seg1: tv4 (2.5 KiB); in one kernel n2 leaves no axis that workers could divide
#
# 6.3 MiB moved, 3.8 MiB compulsory, traffic ratio 1.689
# peak memory 3.8 MiB, inputs not counted
# model: 1270.3 us, no cut below 1262.3 us (gap 0.6 %)
