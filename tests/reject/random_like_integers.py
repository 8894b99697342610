def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.rand_like(x))

# ---- expect
# 3:36: `rand_like`: argument `arg` must be a tensor of floats, but is one of i32
#     fd.add_output(fd.ops.rand_like(x))
#                                    ^ expected a tensor of floats
