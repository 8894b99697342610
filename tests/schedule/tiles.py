# What lies along another axis than most is walked in tiles: heads and tokens change places, the index of a row does not.
def merge_heads(fd):
    x = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.BFloat16, stride_order=[2, 0, 1])
    y = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.BFloat16)
    row = fd.define_tensor(shape=[-1, -1, 1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.cast(fd.ops.add(fd.ops.add(x, y), row), dtype=DataType.BFloat16))

inputs = [
    torch.randn((4, 768, 256), dtype=torch.bfloat16).permute(0, 2, 1),
    torch.randn((4, 256, 768), dtype=torch.bfloat16),
    torch.randn((4, 256, 1)),
]

# ---- expect
# # seg0
# schedule lanes 16
# block x0 by 1
# block x1 by 128
# block x2 by 1024
# inner x1
# inner x2
# lane x2
# tile x1 by 128
