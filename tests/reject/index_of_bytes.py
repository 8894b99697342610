def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    i = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Byte)
    fd.add_output(fd.ops.gather(x, i, 0))

# ---- expect
# 4:36: `gather`: argument `index` must be a tensor of i32, i64 or u64, but is one of u8
#     fd.add_output(fd.ops.gather(x, i, 0))
#                                    ^ expected a tensor of i32, i64 or u64
