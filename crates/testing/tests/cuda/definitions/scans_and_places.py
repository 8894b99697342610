# Scans along rows and columns, and where extremes are, in rows and of all.
def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.cumsum(T0 * 2.0, 1))
    fd.add_output(fd.ops.cummax(T0, 0) + 1.0)
    fd.add_output(fd.ops.argmax(T0, 1))
    fd.add_output(fd.ops.argmin(T0))

inputs = [torch.randn(8, 8)]
