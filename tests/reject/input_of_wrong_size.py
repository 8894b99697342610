# The definition implies that both have one size; the inputs have not.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    y = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.add(x, y))

inputs = [torch.randn((4,)), torch.randn((5,))]

# ---- expect
# input 1 (y), axis 0: expected size 4 (i0 = 4 is the size of axis 0 of input 0 (x); `add` on line 5 needs it), got 5
