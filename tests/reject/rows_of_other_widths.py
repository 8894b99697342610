def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.linear(T0, T1))

inputs = [torch.randn(3, 5, 2), torch.randn(4, 1)]

# ---- expect
# input 1 (T1), axis 1: expected size 2 (i2 = 2 is the size of axis 2 of input 0 (T0); `linear` on line 4 needs it), got 1
