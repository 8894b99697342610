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
# segment seg0 -> n3, tv6
# segment seg1 -> tv5
#
# segment  ops  reads    writes     passes  runs as  recomputed
# seg0     3    8.0 MiB  256.1 KiB  1       kernel   0
# seg1     3    8.0 MiB  4.0 MiB    1       kernel   0
#
# seg0: n3, tv6 <- grad, x
#
# seg1: tv5 <- grad, x, n3
#
#   seg0: 256 blocks of 256 threads, registers unknown, 64 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 64.0 KiB in flight; bound by memory's bandwidth
#   seg0_combine0: 1 blocks of 64 threads, registers unknown, 512 bytes of shared memory
#     a multiprocessor: at most 32 blocks, 2.0 KiB in flight
#   seg0_combine1: 2048 blocks of 64 threads, registers unknown, 512 bytes of shared memory
#     a multiprocessor: at most 32 blocks, 32.0 KiB in flight
#   seg1: 1024 blocks of 256 threads, registers unknown, 0 bytes of shared memory
#     a multiprocessor: at most 8 blocks, 256.0 KiB in flight; bound by memory's bandwidth
#
# seg0 -> seg1: n3 (64 B); in one kernel tv6 would keep 262144 bytes of folds in a block, which has 204800
#
# 28.3 MiB moved, 12.2 MiB compulsory, traffic ratio 2.306
# 4.3 MiB in memory at most of what segments make
# model: 13.1 us, no cut below 10.1 us (gap 22.9 %)
