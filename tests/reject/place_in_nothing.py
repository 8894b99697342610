def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.argmax(fd.ops.full([0], 1.0, DataType.Float), 0))

# ---- expect
# 3:33: `argmax`: argument `arg` must be a tensor with elements to choose from, but is one without
#     fd.add_output(fd.ops.argmax(fd.ops.full([0], 1.0, DataType.Float), 0))
#                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a tensor with elements to choose from
