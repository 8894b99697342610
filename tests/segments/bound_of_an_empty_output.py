def f(fd):
    x = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
    s = fd.ops.sum(x, dims=[0, 1], keepdim=True)
    fd.add_output(fd.ops.slice(s, [1, 0], [5, 1]))

inputs = [torch.randn((1000, 1))]

# ---- expect
# segment seg0 -> tv2
#
# segment  ops  reads    writes  passes  runs as  recomputed
# seg0     4    3.9 KiB  0 B     1       kernel   0
#
# seg0: tv2 <- x
#
# 3.9 KiB moved, 3.9 KiB compulsory, traffic ratio 1.000
# peak memory 0 B, inputs not counted
# model: 2.3 us, no cut below 0.0 us (gap 100.0 %)
