def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    T1 = fd.ops.argmax(T0, 1)
    fd.add_output(T1)
inputs = [torch.randn(2, 0)]

# ---- expect
# the sizes must satisfy i1 >= 1, but i1 = 0 is the size of axis 1 of input 0 (T0); `argmax` on line 3 needs it
