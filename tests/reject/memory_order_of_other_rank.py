def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.stride_order(x, stride_order=[0, 2]))

# ---- expect
# 3:55: `stride_order`: argument `stride_order` must be the numbers from 0 to 1, each once, but is [0, 2]
#     fd.add_output(fd.ops.stride_order(x, stride_order=[0, 2]))
#                                                       ^^^^^^ expected the numbers from 0 to 1, each once
