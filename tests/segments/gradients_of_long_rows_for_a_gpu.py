# test: target=sm_90
# Sums of columns stay with a block from row to row, and those of such rows fit no block of a GPU: two segments.
def long_gradients(fd):
    grad = fd.define_tensor(shape=[-1, 65536], contiguity=True, dtype=DataType.Float)
    x = fd.define_tensor(shape=[-1, 65536], contiguity=True, dtype=DataType.Float)
    product = fd.ops.mul(grad, x)
    fd.add_output(fd.ops.sub(grad, fd.ops.mul(x, fd.ops.sum(product, dims=[1], keepdim=True))))
    fd.add_output(fd.ops.sum(product, dims=[0]))

inputs = [torch.randn((16, 65536)), torch.randn((16, 65536))]

# ---- expect
# segment seg0 -> tv3
# segment seg1 -> tv5, tv6
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     3    8.0 MiB  64 B     1       kernel   0
# seg1     4    8.0 MiB  4.2 MiB  1       kernel   1
#
# seg0: tv3 <- grad, x
#
# seg1: tv5, tv6 <- grad, x, tv3
#   product again saves reading 4.0 MiB
#
#   seg0: 256 blocks of 256 threads, registers unknown, 64 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 64.0 KiB in flight; bound by the launch
#   seg0_combine0: 2 blocks of 16 threads, registers unknown, 128 bytes of shared memory
#     a multiprocessor: at most 32 blocks, 512 B in flight
#   seg1: 256 blocks of 256 threads, registers unknown, 0 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 16.0 KiB in flight; bound by memory's latency
#   seg1_combine0: 256 blocks of 256 threads, registers unknown, 0 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 64.0 KiB in flight
#
# seg0 -> seg1: tv3 (64 B); in one kernel tv6 would keep 262144 bytes of folds in a block, which has 204800
#
# 22.3 MiB moved, 12.2 MiB compulsory, traffic ratio 1.816
# peak memory 4.3 MiB, inputs not counted
# model: 19.8 us, no cut below 7.8 us (gap 60.7 %)
