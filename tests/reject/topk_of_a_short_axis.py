# Two ops ask for elements; the one that asks for most says so.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.argmax(x, dim=1, keepdim=False))
    values, places = fd.ops.topk(x, k=3, dim=1)
    fd.add_output(values)
    fd.add_output(places)

inputs = [torch.randn((4, 2))]

# ---- expect
# the sizes must satisfy i1 >= 3, but i1 = 2 is the size of axis 1 of input 0 (x); `topk` on line 5 needs it
