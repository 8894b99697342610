# The size that is left is of a division.
def f(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows = fd.define_scalar(dtype=DataType.Int)
    y = fd.ops.reshape(x, [rows, -1])
    fd.add_output(y)


inputs = [torch.randn((4, 6)), 0]

# ---- expect
# the sizes must satisfy i0*i1 - i2*((i0*i1) // i2) = 0, which divides by zero: i0 = 4 is the size of axis 0 of input 0 (x), i1 = 6 is the size of axis 1 of input 0 (x), i2 = 0 is the value of input 1 (rows); `reshape` on line 5 needs it
