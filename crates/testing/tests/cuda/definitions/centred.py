# Rows less their sum, and the sums of columns, which blocks keep from row to row.
def centred(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    total = fd.ops.sum(wide, dims=[1], keepdim=True)
    fd.add_output(fd.ops.sum(wide, dims=[0]))
    fd.add_output(fd.ops.cast(fd.ops.sub(wide, total), dtype=DataType.BFloat16))

inputs = [torch.randn((4096, 16384), dtype=torch.bfloat16)]
