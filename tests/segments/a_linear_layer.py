# A library computes the product, which reads the transposed weight as it lies; what is around it is kernels.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    w = fd.define_tensor(shape=[-1, -1], contiguity=True)
    b = fd.define_tensor(shape=[-1], contiguity=True)
    y = fd.ops.linear(fd.ops.relu(x), w, b)
    fd.add_output(fd.ops.silu(y))

inputs = [torch.rand((64, 128)), torch.rand((256, 128)), torch.rand((256,))]

# ---- expect
# segment seg0 -> tv3
# segment seg1 -> n6
# segment seg2 -> tv5
#
# segment  ops  reads      writes    passes  runs as         recomputed
# seg0     1    32.0 KiB   32.0 KiB  1       kernel          0
# seg1     2    160.0 KiB  64.0 KiB  1       library matmul  0
# seg2     6    65.0 KiB   64.0 KiB  1       kernel          0
#
# seg0: tv3 <- x
#
# seg1: n6 <- w, tv3
#
# seg2: tv5 <- b, n6
#
# pattern linear -> y: in seg1, seg2; a library multiplies: only shallow products are taken apart
#
# seg0 -> seg1: tv3 (32.0 KiB); it is an operand of matmul, which a library computes
# seg1 -> seg2: n6 (64.0 KiB); it is a result of matmul, which a library computes
#
# 417.0 KiB moved, 225.0 KiB compulsory, traffic ratio 1.853
# peak memory 128.0 KiB, inputs not counted
# model: 24.7 us, which no other cut can beat
