# Every op that moves elements.
def f(fd):
    x = fd.define_tensor(shape=[4, 6], contiguity=True)
    y = fd.ops.permute(x, dims=[1, 0])
    z = fd.ops.slice(y, start_indices=[1, 0], end_indices=[5, 4])
    p = fd.ops.pad(z, [0, 1, 2, 0], 1.0)
    c = fd.ops.cat([p, p], dim=1)
    r = fd.ops.reshape(c, new_shape=[3, 2, 10])
    b = fd.ops.broadcast_in_dim(r, shape=[3, 2, 10, 7], broadcast_dims=[0, 1, 2])
    fd.add_output(b)

# ---- expect
# n0 = input 0 : f32[4, 6]
# n1 = permute [1, 0] (n0) : f32[6, 4]
# n2 = slice from [1, 0] size [4, 4] (n1) : f32[4, 4]
# n3 = constant 1.0 : f32[]
# n4 = pad before [2, 0] after [0, 1] (n2, n3) : f32[6, 5]
# n5 = cat 1 (n4, n4) : f32[6, 10]
# n6 = reshape [3, 2, 10] (n5) : f32[3, 2, 10]
# n7 = broadcast [old, old, old, new] (n6) : f32[3, 2, 10, 1]
# n8 = expand [3, 2, 10, 7] (n7) : f32[3, 2, 10, 7]
# output n8
