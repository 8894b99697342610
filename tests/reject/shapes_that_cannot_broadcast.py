def f(fd):
    x = fd.define_tensor(shape=[4, 5], contiguity=True)
    y = fd.define_tensor(shape=[4, 6], contiguity=True)
    fd.add_output(fd.ops.add(x, y))

# ---- expect
# 4:19: `add` needs size 5 on axis 1, but has size 6
#     fd.add_output(fd.ops.add(x, y))
#                   ^^^^^^^^^^^^^^^^ here
