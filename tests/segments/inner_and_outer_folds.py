# A row's fold that is needed again and a column's that leaves the kernel: one segment.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    g = fd.define_tensor(shape=[-1, -1], contiguity=True)
    inner = fd.ops.sum(fd.ops.mul(x, g), dims=[1], keepdim=True)
    fd.add_output(fd.ops.sub(g, fd.ops.mul(x, inner)))
    fd.add_output(fd.ops.sum(fd.ops.mul(x, g), dims=[0]))

inputs = [torch.randn((2048, 768)), torch.randn((2048, 768))]

# ---- expect
# segment seg0 -> tv5, tv7
#
# segment  ops  reads     writes   passes  runs as  recomputed
# seg0     6    12.0 MiB  6.0 MiB  1       kernel   0
#
# seg0: tv5, tv7 <- x, g
#
# 18.4 MiB moved, 18.0 MiB compulsory, traffic ratio 1.021
# peak memory 6.0 MiB, inputs not counted
# model: 725.8 us, which no other cut can beat
