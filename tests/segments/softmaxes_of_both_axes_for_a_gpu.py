# test: target=sm_90
# The softmax of rows is made beside that of columns and not beside the columns' maxima: blocks that walk whole rows
# would leave four times as many partial results of these, which a launch of its own adds up.
def softmax_both_axes(fd: FusionDefinition) -> None:
    x0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    x1 = fd.ops.max(x0, dims=[0], keepdim=True)
    x2 = fd.ops.sub(x0, x1)
    x3 = fd.ops.exp(x2)
    x4 = fd.ops.sum(x3, dims=[0], keepdim=True)
    x5 = fd.ops.div(x3, x4)
    fd.add_output(x5)
    x6 = fd.ops.max(x0, dims=[1], keepdim=True)
    x7 = fd.ops.sub(x0, x6)
    x8 = fd.ops.exp(x7)
    x9 = fd.ops.sum(x8, dims=[1], keepdim=True)
    x10 = fd.ops.div(x8, x9)
    fd.add_output(x10)
inputs = [
    torch.randn((4096, 4096), dtype=torch.float32),
]

# ---- expect
# segment seg0 -> x1
# segment seg1 -> x4
# segment seg2 -> x5, x10
#
# segment  ops  reads     writes     passes  runs as  recomputed
# seg0     2    64.0 MiB  16.0 KiB   1       kernel   0
# seg1     4    64.0 MiB  16.0 KiB   1       kernel   0
# seg2     10   64.0 MiB  128.0 MiB  1       kernel   2
#
# seg0: x1 <- x0
#
# seg1: x4 <- x0, x1
#
# seg2: x5, x10 <- x0, x1, x4
#   x2 again saves reading 64.0 MiB
#   x3 again saves reading 64.0 MiB
#
#   seg0: 264 blocks of 256 threads, registers unknown, 0 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 32.0 KiB in flight; bound by memory's bandwidth
#   seg0_combine0: 256 blocks of 256 threads, registers unknown, 1024 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 16.0 KiB in flight
#   seg1: 264 blocks of 256 threads, registers unknown, 0 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 64.0 KiB in flight; bound by memory's bandwidth
#   seg1_combine0: 256 blocks of 256 threads, registers unknown, 2048 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 16.0 KiB in flight
#   seg2: 4096 blocks of 256 threads, registers unknown, 64 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 384.0 KiB in flight; bound by memory's bandwidth
#
# seg0 -> seg1: x1 (16.0 KiB); one kernel would do for these two; the segmentation keeps them apart
# seg0 -> seg2: x1 (16.0 KiB); seg1 stands between seg0 and seg2
# seg1 -> seg2: x4 (16.0 KiB); in one kernel n8 leaves no axis that workers could divide
#
# 324.2 MiB moved, 192.0 MiB compulsory, traffic ratio 1.689
# peak memory 128.0 MiB, inputs not counted
# model: 128.3 us, no cut below 114.8 us (gap 10.5 %)
