# A sum over what was broadcast to sizes of another input is made as it is: the same sizes under other names repeat nothing.
def sums(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    factor = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
    rows, columns = fd.ops.shape(y)
    wide = fd.ops.broadcast_in_dim(factor, shape=[rows, columns], broadcast_dims=[0, 1])
    product = fd.ops.mul(wide, x)
    total = fd.ops.sum(fd.ops.add(product, y), dims=[0])
    fd.add_output(product)
    fd.add_output(total)

inputs = [
    torch.randn((6, 4), dtype=torch.float32),
    torch.randn((6, 4), dtype=torch.float32),
    torch.randn((6, 1), dtype=torch.float32),
]

# ---- expect
# segment seg0 -> product, total
#
# segment  ops  reads  writes  passes  runs as  recomputed
# seg0     4    216 B  112 B   1       kernel   0
#
# seg0: product, total <- x, y, factor
#
# 328 B moved, 328 B compulsory, traffic ratio 1.000
# peak memory 112 B, inputs not counted
# model: 2.0 us, which no other cut can beat
