# One monoid on two dtypes in one kernel: functions of one name, told apart by the types of what they take.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    single, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=True)
    wide = fd.ops.cast(fd.ops.sub(x, mean), dtype=DataType.Double)
    double, center = fd.ops.var_mean(wide, dims=[1], correction=0, keepdim=True)
    fd.add_output(fd.ops.add(fd.ops.sub(wide, center), fd.ops.mul(double, single)))

inputs = [torch.randn(4, 12)]
