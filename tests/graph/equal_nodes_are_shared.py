# The same op on the same values is one node; a softmax written twice is there once.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.add(fd.ops.softmax(x, dim=1), fd.ops.softmax(x, dim=1)))

# ---- expect
# n0 = input 0 : f32[i0, i1]
# n1 = fold max [1] (n0) : f32[i0]
# n2 = broadcast [old, new] (n1) : f32[i0, 1]
# n3 = sub (n0, n2) : f32[i0, i1]
# n4 = exp (n3) : f32[i0, i1]
# n5 = fold sum [1] (n4) : f32[i0]
# n6 = broadcast [old, new] (n5) : f32[i0, 1]
# n7 = div (n4, n6) : f32[i0, i1]
# n8 = add (n7, n7) : f32[i0, i1]
# output n8
