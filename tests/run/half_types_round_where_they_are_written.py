# A value of a half type is rounded to it, stored or not.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.cast(fd.ops.cast(x, dtype=DataType.BFloat16), dtype=DataType.Float)
    fd.add_output(fd.ops.sub(x, y))

inputs = [torch.arange(1, 2, 0.11, dtype=torch.float32)]

# ---- expect
# f32[10] = 0.0, 0.0006250143, 0.0012500286, 0.0018750429, 0.0025000572, 0.0031249523, 0.0037499666, -0.003437519, -0.0028125048, -0.0021874905
