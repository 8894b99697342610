def f(fd):
    x = fd.define_tensor(shape=[4, 6], contiguity=True)
    fd.add_output(fd.ops.reshape(x, new_shape=[5, 5]))

# ---- expect
# 3:47: `reshape` needs a shape of 24 elements, but has one of 25
#     fd.add_output(fd.ops.reshape(x, new_shape=[5, 5]))
#                                               ^^^^^^ here
