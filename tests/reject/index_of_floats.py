def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.gather(x, x, dim=0))

# ---- expect
# 3:36: `gather`: argument `index` must be a tensor of i32, i64 or u64, but is one of f32
#     fd.add_output(fd.ops.gather(x, x, dim=0))
#                                    ^ expected a tensor of i32, i64 or u64
