def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.index_select(x, index, dim=-3))

# ---- expect
# 4:53: `index_select`: argument `dim` must be an axis from -2 to 1, but is the number -3
#     fd.add_output(fd.ops.index_select(x, index, dim=-3))
#                                                     ^^ expected an axis from -2 to 1
