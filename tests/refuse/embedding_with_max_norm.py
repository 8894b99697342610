def f(fd):
    table = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.embedding_fwd(index, table, max_norm=1.0))

# ---- expect
# 4:63: `embedding_fwd`: argument `max_norm` must be None, but is the number 1.0
#     fd.add_output(fd.ops.embedding_fwd(index, table, max_norm=1.0))
#                                                               ^^^ expected None
# help: rows are not renormalised, as that changes the weight in place
