def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.softmax(x))

# ---- expect
# 3:19: `softmax`: argument `dim` must be a whole number, but is missing
#     fd.add_output(fd.ops.softmax(x))
#                   ^^^^^^^^^^^^^^^^^ expected a whole number
