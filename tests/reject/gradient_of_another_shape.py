def f(fd):
    arg = fd.define_tensor(shape=[2, 4, 3], contiguity=True)
    grad = fd.define_tensor(shape=[2, 12], contiguity=True)
    mean = fd.define_tensor(shape=[2, 2], contiguity=True)
    gradients = fd.ops.group_norm_backward(grad, arg, 2, mean, mean)
    fd.add_output(gradients[0])

# ---- expect
# 5:44: `group_norm_backward`: argument `grad` must be a tensor with the sizes of `arg`, [2, 4, 3], but is a tensor of sizes [2, 12]
#     gradients = fd.ops.group_norm_backward(grad, arg, 2, mean, mean)
#                                            ^^^^ expected a tensor with the sizes of `arg`, [2, 4, 3]
