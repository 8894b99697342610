def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.group_norm(T0, 4))

inputs = [torch.randn(3, 10, 2)]

# ---- expect
# the sizes must satisfy i1 is a multiple of 4, but i1 = 10 is the size of axis 1 of input 0 (T0); `group_norm` on line 3 needs it
