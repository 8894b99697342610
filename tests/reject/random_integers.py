def f(fd):
    fd.add_output(fd.ops.uniform(0.0, 9.0, shape=[4], dtype=DataType.Int))

# ---- expect
# 2:61: `uniform`: argument `dtype` must be a dtype of floats, but is DataType.Int
#     fd.add_output(fd.ops.uniform(0.0, 9.0, shape=[4], dtype=DataType.Int))
#                                                             ^^^^^^^^^^^^ expected a dtype of floats
