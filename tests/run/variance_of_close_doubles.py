# Deviations that are small beside the mean, in doubles: the evaluator is as exact as compiled code.
def variance(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Double)
    fd.add_output(fd.ops.var(fd.ops.add(fd.ops.mul(x, 1e-6), 1.7), dims=[1]))


inputs = [torch.arange(12, dtype=torch.float64).reshape((4, 3))]

# ---- expect
# f64[4] = 1.0000000000575112e-12, 1.0000000000575112e-12, 1.0000000000575112e-12, 1.0000000000575112e-12
