# exp, exp2, expm1, log, log2, log10 and tanh of Double, where their results are exact.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Double)
    e = fd.ops.mul(x, 1e300)
    fd.add_output(fd.ops.exp(e))
    fd.add_output(fd.ops.expm1(e))
    fd.add_output(fd.ops.tanh(e))
    fd.add_output(fd.ops.exp2(fd.ops.mul(x, 537.0)))
    fd.add_output(fd.ops.log2(fd.ops.exp2(fd.ops.mul(x, 537.0))))
    fd.add_output(fd.ops.log(x))
    fd.add_output(fd.ops.log10(fd.ops.mul(x, 100.0)))

inputs = [torch.arange(-2, 2, 1, dtype=torch.float64)]

# ---- expect
# f64[4] = 0.0, 0.0, 1.0, float("inf")
# f64[4] = -1.0, -1.0, 0.0, float("inf")
# f64[4] = -1.0, -1.0, 0.0, 1.0
# f64[4] = 5e-324, 2.2227587494850775e-162, 1.0, 4.4989137945431964e161
# f64[4] = -1074.0, -537.0, 0.0, 537.0
# f64[4] = float("nan"), float("nan"), float("-inf"), 0.0
# f64[4] = float("nan"), float("nan"), float("-inf"), 2.0
