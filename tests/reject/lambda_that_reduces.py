def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.scan(T0, lambda a, b: fd.ops.full([2], a, DataType.Float), init=0.0, dim=0))

# ---- expect
# 3:60: this has no meaning in a lambda
#     fd.add_output(fd.ops.scan(T0, lambda a, b: fd.ops.full([2], a, DataType.Float), init=0.0, dim=0))
#                                                            ^^^ expected a parameter, a number or an op of them
