# Half types stay in Float, integers wrap.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    n = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.square(x))
    fd.add_output(fd.ops.square(fd.ops.cast(x, dtype=DataType.BFloat16)))
    fd.add_output(fd.ops.square(n))

inputs = [torch.arange(-3, 4, 1.5, dtype=torch.float32), torch.full((2,), 4294967297)]

# ---- expect
# f32[5] = 9.0, 2.25, 0.0, 2.25, 9.0
# f32[5] = 9.0, 2.25, 0.0, 2.25, 9.0
# i64[2] = 8589934593, 8589934593
