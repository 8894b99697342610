# Sizes that an output in place equates are asked for by the op that asked before.
def f(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    z = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.slice(x, start_indices=[1], end_indices=[2], manual_normalization=True))
    fd.add_output(fd.ops.mul(x, 2.0), z)


inputs = [torch.randn((1,)), torch.randn((1,))]

# ---- expect
# the sizes must satisfy i0 >= 2, but i0 = 1 is the size of axis 0 of input 0 (x); `slice` on line 5 needs it
