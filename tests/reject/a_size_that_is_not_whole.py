# What is computed of scalars is a size only where it comes out whole.
def f(fd):
    S0 = fd.define_scalar(None, dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[-1], contiguity=True)
    S2 = fd.ops.mul(10, fd.ops.reciprocal(S0))
    fd.add_output(fd.ops.reshape(T1, new_shape=[S0, S2]))

inputs = [4, torch.randn((10,))]

# ---- expect
# a size comes out as 2.5, which is no whole number; `reshape` on line 6 needs it
