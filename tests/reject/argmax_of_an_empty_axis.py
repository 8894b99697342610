def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.ops.exp(x)
    fd.add_output(fd.ops.argmax(y, dim=1, keepdim=False))

inputs = [torch.randn((4, 0))]

# ---- expect
# the sizes must satisfy i1 >= 1, but i1 = 0 is the size of axis 1 of input 0 (x); `argmax` on line 4 needs it
