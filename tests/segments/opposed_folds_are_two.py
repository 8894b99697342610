# Rows that need their sum and columns that need theirs have no worker in common.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    by_row = fd.ops.div(x, fd.ops.sum(x, dims=[1], keepdim=True))
    by_column = fd.ops.div(by_row, fd.ops.sum(by_row, dims=[0], keepdim=True))
    fd.add_output(by_column)

inputs = [torch.rand((512, 640))]

# ---- expect
# segment seg0 -> by_row
# segment seg1 -> by_column
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     3    1.2 MiB  1.2 MiB  1       kernel   0
# seg1     3    1.2 MiB  1.2 MiB  1       kernel   0
#
# seg0: by_row <- x
#
# seg1: by_column <- by_row
#
# seg0 -> seg1: by_row (1.2 MiB); in one kernel n1 leaves no axis that workers could divide
#
# 5.0 MiB moved, 2.5 MiB compulsory, traffic ratio 2.000
