# What is computed of an input that is declared expanded is computed of its first elements alone, and outputs repeat as it
# does. What it meets in full size is written in full.
def expanded(fd):
    weight = fd.define_tensor(shape=[-1, -1], contiguity=[None, True], dtype=DataType.Float)
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    gain = fd.ops.exp(weight)
    fd.add_output(fd.ops.permute(gain, dims=[1, 0]))
    fd.add_output(fd.ops.mul(gain, x))

inputs = [
    torch.randn((4,), dtype=torch.float32).as_strided((6, 4), (0, 1)),
    torch.randn((6, 4), dtype=torch.float32),
]

# ---- expect
# segment seg0 -> gain, tv4
#
# segment  ops  reads  writes  passes  runs as  recomputed
# seg0     4    112 B  112 B   1       kernel   0
#
# seg0: gain, tv4 <- weight, x
#
# tv3 is a view of gain: no bytes moved for it
#
# 224 B moved, 224 B compulsory, traffic ratio 1.000
# peak memory 112 B, inputs not counted
# model: 2.0 us, no cut below 2.0 us (gap 0.1 %)
