# The number of elements decides whether a size is whole.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.reshape(x, new_shape=[-1, 4]))

inputs = [torch.randn((10,))]

# ---- expect
# the sizes must satisfy i0 is a multiple of 4, but i0 = 10 is the size of axis 0 of input 0 (x); `reshape` on line 4 needs it
