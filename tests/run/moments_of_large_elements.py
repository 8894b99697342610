# The sum of a row is beyond the range of f32; its mean and its variance are not.
def moments(fd):
    x = fd.define_tensor(shape=[-1, 64], contiguity=True, dtype=DataType.Float)
    var, mean = fd.ops.var_mean(fd.ops.mul(x, 1e37), dims=[1], correction=0)
    fd.add_output(var)
    fd.add_output(mean)

inputs = [torch.ones((2, 64))]

# ---- expect
# f32[2] = 0.0, 0.0
# f32[2] = 1e37, 1e37
