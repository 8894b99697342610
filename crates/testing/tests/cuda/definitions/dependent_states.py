# A fold whose states depend on each other: the second reads the first as it was before.
def lam(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    re, im = fd.ops.fold(
        [fd.ops.cast(x, dtype=DataType.Float), fd.ops.cast(y, dtype=DataType.Float)],
        lambda a, b, c, d: [a * c - b * d, a * d + b * c],
        init=[1.0, 0.0],
        dims=[0],
    )
    fd.add_output(re)
    fd.add_output(im)

inputs = [torch.randn((4096, 4096)).to(torch.bfloat16), torch.randn((4096, 4096)).to(torch.bfloat16)]
