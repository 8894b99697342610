# Two inputs of one type stay two.
def f(fd):
    a = fd.define_tensor(shape=[8], contiguity=True)
    b = fd.define_tensor(shape=[8], contiguity=True)
    fd.add_output(fd.ops.sub(a, b))

# ---- expect
# n0 = input 0 : f32[8]
# n1 = input 1 : f32[8]
# n2 = sub (n0, n1) : f32[8]
# output n2
