def f(fd):
    x = fd.define_tensor(shape=[4], contiguity=True)
    values, indices = fd.ops.topk(x, 5)
    fd.add_output(values)

# ---- expect
# 3:38: `topk`: argument `k` must be a whole number from 0 to the size 4 of the dimension, but is the number 5
#     values, indices = fd.ops.topk(x, 5)
#                                      ^ expected a whole number from 0 to the size 4 of the dimension
