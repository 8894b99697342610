# Moments of rows whose mean is large against their deviations, of equal elements, and of deviations of a few units in the last
# place: two passes keep the bounds of one.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y0 = fd.ops.add(fd.ops.mul(x, 1.0), 1000.0)
    variance0, mean0 = fd.ops.var_mean(y0, dims=[1], correction=0, keepdim=False)
    fd.add_output(variance0)
    fd.add_output(mean0)
    y1 = fd.ops.add(fd.ops.mul(x, 0.0001), 1000.0)
    variance1, mean1 = fd.ops.var_mean(y1, dims=[1], correction=0, keepdim=False)
    fd.add_output(variance1)
    fd.add_output(mean1)
    y2 = fd.ops.add(fd.ops.mul(x, 0.0), 0.1)
    variance2, mean2 = fd.ops.var_mean(y2, dims=[1], correction=0, keepdim=False)
    fd.add_output(variance2)
    fd.add_output(mean2)
    y3 = fd.ops.add(fd.ops.mul(x, 0.0), -33333000.0)
    variance3, mean3 = fd.ops.var_mean(y3, dims=[1], correction=0, keepdim=False)
    fd.add_output(variance3)
    fd.add_output(mean3)
    y4 = fd.ops.add(fd.ops.mul(x, 1e-07), 1.0)
    variance4, mean4 = fd.ops.var_mean(y4, dims=[1], correction=0, keepdim=False)
    fd.add_output(variance4)
    fd.add_output(mean4)

inputs = [torch.randn(4, 12)]
