def f(fd):
    x = fd.define_tensor(shape=[4, 6], contiguity=True)
    fd.add_output(fd.ops.matmul(x, x))

# ---- expect
# 3:19: `matmul` needs size 6 on axis 0, but has size 4
#     fd.add_output(fd.ops.matmul(x, x))
#                   ^^^^^^^^^^^^^^^^^^^ here
