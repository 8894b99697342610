# Each row normalized over groups of a third of the columns, then weighed column by column.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    groups = fd.ops.reshape(x, new_shape=[rows, 3, fd.ops.div(columns, 3)])
    variance, mean = fd.ops.var_mean(groups, dims=[2], correction=0, keepdim=True)
    normalized = fd.ops.mul(fd.ops.sub(groups, mean), fd.ops.rsqrt(fd.ops.add(variance, 1e-5)))
    whole = fd.ops.reshape(normalized, new_shape=[rows, columns])
    fd.add_output(fd.ops.mul(whole, fd.ops.broadcast(weight, is_broadcast_dim=[True, False])))

inputs = [torch.randn(4, 12), torch.randn(12)]
