# No size is below zero: the op that makes it is named, though nothing else asks for it.
def f(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.pad(x, [-3, -3])
    fd.add_output(fd.ops.mul(y, 2.0))


inputs = [torch.randn((3, 4))]

# ---- expect
# the sizes must satisfy i1 - 6 >= 0, but i1 - 6 is -2, where i1 = 4 is the size of axis 1 of input 0 (x); `pad` on line 4 needs it
