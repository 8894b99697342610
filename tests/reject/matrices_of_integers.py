def f(fd):
    x = fd.define_tensor(shape=[4, 4], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.matmul(x, x))

# ---- expect
# 3:33: `matmul`: argument `arg1` must be a tensor of f16, bf16, f32 or f64 with one axis or more, but is of type i64[4, 4]
#     fd.add_output(fd.ops.matmul(x, x))
#                                 ^ expected a tensor of f16, bf16, f32 or f64 with one axis or more
