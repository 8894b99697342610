def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.gather(x, index, dim=0))

# ---- expect
# 4:36: `gather`: argument `index` must be a tensor of rank 2, but is one of rank 1
#     fd.add_output(fd.ops.gather(x, index, dim=0))
#                                    ^^^^^ expected a tensor of rank 2
