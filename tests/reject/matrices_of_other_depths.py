def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.matmul(T0, T1))

inputs = [torch.randn(3, 1), torch.randn(2, 4)]

# ---- expect
# input 1 (T1), axis 0: expected size 1 (i1 = 1 is the size of axis 1 of input 0 (T0); `matmul` on line 4 needs it), got 2
