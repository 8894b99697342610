def f(fd):
    x = fd.define_tensor(shape=[3, 4], contiguity=True)
    index = fd.define_tensor(shape=[5, 4], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.gather(x, index, dim=1))

# ---- expect
# 4:36: `gather`: argument `index` must be a tensor of at most size 3 on axis 0, but is one of size 5
#     fd.add_output(fd.ops.gather(x, index, dim=1))
#                                    ^^^^^ expected a tensor of at most size 3 on axis 0
