# An output in place equates sizes.
def f(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    z = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.slice(x, start_indices=[1], end_indices=[2], manual_normalization=True))
    fd.add_output(fd.ops.mul(x, 2.0), z)


inputs = [torch.randn((3,)), torch.randn((4,))]

# ---- expect
# input 1 (z), axis 0: expected size 3 (i0 = 3 is the size of axis 0 of input 0 (x); `add_output` on line 6 needs it), got 4
