# Anything to the 0 is 1, negative bases take only whole exponents; integers wrap, and truncate under negative exponents.
def f(fd):
    x = fd.define_tensor(shape=[-1, 1], contiguity=True)
    y = fd.define_tensor(shape=[1, -1], contiguity=True)
    fd.add_output(fd.ops.pow(x, y))
    zero = fd.ops.sub(x, x)
    strange = fd.ops.div(x, zero)
    fd.add_output(fd.ops.pow(strange, y))
    fd.add_output(fd.ops.pow(x, fd.ops.div(y, fd.ops.sub(y, y))))
    i = fd.ops.cast(x, dtype=DataType.Int)
    j = fd.ops.cast(fd.ops.mul(y, 2), dtype=DataType.Int)
    fd.add_output(fd.ops.pow(i, j))
    fd.add_output(fd.ops.pow(fd.ops.add(i, 3), fd.ops.mul(j, 13)))

inputs = [
    torch.arange(-1, 2, 1, dtype=torch.float32).reshape(3, 1),
    torch.arange(-1.5, 2, 1.5, dtype=torch.float32).reshape(1, 3),
]

# ---- expect
# f32[3, 3] = float("nan"), 1.0, float("nan"), float("inf"), 1.0, 0.0, 1.0, 1.0, 1.0
# f32[3, 3] = 0.0, 1.0, float("inf"), float("nan"), 1.0, float("nan"), 0.0, 1.0, float("inf")
# f32[3, 3] = 1.0, float("nan"), 1.0, float("inf"), float("nan"), 0.0, 1.0, 1.0, 1.0
# i64[3, 3] = -1, 1, -1, 0, 1, 0, 1, 1, 1
# i64[3, 3] = 0, 1, 549755813888, 0, 1, 4052555153018976267, 0, 1, 0
