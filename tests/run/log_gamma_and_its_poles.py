# Infinity at 0 and at every negative whole number.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.lgamma(x))
    fd.add_output(fd.ops.lgamma(fd.ops.cast(x, dtype=DataType.Double)))
    infinite = fd.ops.div(x, fd.ops.sub(x, x))
    fd.add_output(fd.ops.lgamma(infinite))
    fd.add_output(fd.ops.lgamma(fd.ops.cast(x, dtype=DataType.BFloat16)))
    fd.add_output(fd.ops.lgamma(fd.ops.cast(x, dtype=DataType.Int)))

inputs = [torch.arange(-2, 4, 0.5, dtype=torch.float32)]

# ---- expect
# f32[12] = float("inf"), 0.86004704, float("inf"), 1.2655121, float("inf"), 0.5723649, 0.0, -0.12078224, 0.0, 0.28468287, 0.6931472, 1.2009736
# f64[12] = float("inf"), 0.8600470153764809, float("inf"), 1.2655121234846454, float("inf"), 0.5723649429247001, 0.0, -0.12078223763524522, 0.0, 0.2846828704729192, 0.6931471805599453, 1.2009736023470743
# f32[12] = float("inf"), float("inf"), float("inf"), float("inf"), float("nan"), float("inf"), float("inf"), float("inf"), float("inf"), float("inf"), float("inf"), float("inf")
# f32[12] = float("inf"), 0.86004704, float("inf"), 1.2655121, float("inf"), 0.5723649, 0.0, -0.12078224, 0.0, 0.28468287, 0.6931472, 1.2009736
# f32[12] = float("inf"), float("inf"), float("inf"), float("inf"), float("inf"), float("inf"), 0.0, 0.0, 0.0, 0.0, 0.6931472, 0.6931472
