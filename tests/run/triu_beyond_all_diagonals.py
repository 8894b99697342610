# Diagonals beyond the sizes, where a row's number plus the diagonal would overflow.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    k = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.sum(fd.ops.triu(x, diagonal=9223372036854775807), dims=[0, 1]))
    fd.add_output(fd.ops.sum(fd.ops.triu(x, diagonal=-9223372036854775808), dims=[0, 1]))
    fd.add_output(fd.ops.sum(fd.ops.triu(x, diagonal=k), dims=[0, 1]))

inputs = [torch.ones((3, 4)), 9223372036854775807]

# ---- expect
# f32[] = 0.0
# f32[] = 12.0
# f32[] = 0.0
