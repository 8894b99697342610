# Equal elements stay in order, NaN is greater than all numbers, and of both zeros neither is.
def f(fd):
    numbers = fd.define_tensor(shape=[-1, -1], contiguity=True)
    x = fd.ops.sub(fd.ops.fmod(fd.ops.mul(numbers, 3.0), 4.0), 2.0)
    zero = fd.ops.mul(x, 0.0)
    fd.add_output(fd.ops.argsort(x, dim=1))
    fd.add_output(fd.ops.argsort(x, dim=1, descending=True, stable=True))
    fd.add_output(fd.ops.argsort(fd.ops.truediv(x, zero), dim=-1))
    values, indices = fd.ops.topk(x, 2)
    fd.add_output(values)
    fd.add_output(indices)
    values, indices = fd.ops.topk(x, 1, dim=0, largest=False, sorted=True)
    fd.add_output(values)
    fd.add_output(indices)

inputs = [torch.arange(0, 10, 1, dtype=torch.float32).reshape(2, 5)]

# ---- expect
# i64[2, 5] = 0, 4, 3, 2, 1, 3, 2, 1, 0, 4
# i64[2, 5] = 1, 2, 3, 0, 4, 0, 4, 1, 2, 3
# i64[2, 5] = 0, 1, 3, 4, 2, 0, 2, 3, 4, 1
# f32[2, 2] = 1.0, 0.0, 1.0, 1.0
# i64[2, 2] = 1, 2, 0, 4
# f32[1, 5] = -2.0, 0.0, -1.0, -2.0, -2.0
# i64[1, 5] = 0, 1, 1, 1, 0
