def f(fd):
    table = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.embedding_fwd(index, table, max_norm=1.0, norm_type=-1.0))

# ---- expect
# 4:78: `embedding_fwd`: argument `norm_type` must be above zero, but is the number -1.0
#     fd.add_output(fd.ops.embedding_fwd(index, table, max_norm=1.0, norm_type=-1.0))
#                                                                              ^^^^ expected above zero
