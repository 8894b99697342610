# Of 0 minus infinity, below 0 NaN, in f32 and f64.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    wide = fd.ops.cast(x, dtype=DataType.Double)
    fd.add_output(fd.ops.log(x))
    fd.add_output(fd.ops.log2(x))
    fd.add_output(fd.ops.log10(x))
    fd.add_output(fd.ops.log1p(fd.ops.sub(x, 1)))
    fd.add_output(fd.ops.log(wide))
    fd.add_output(fd.ops.log2(wide))
    fd.add_output(fd.ops.log10(wide))
    fd.add_output(fd.ops.log1p(fd.ops.sub(wide, 1)))
    fd.add_output(fd.ops.sqrt(x))
    fd.add_output(fd.ops.rsqrt(x))
    fd.add_output(fd.ops.log(fd.ops.div(1, fd.ops.sub(x, x))))

inputs = [torch.arange(-1, 3, 1, dtype=torch.float32)]

# ---- expect
# f32[4] = float("nan"), float("-inf"), 0.0, 0.6931472
# f32[4] = float("nan"), float("-inf"), 0.0, 1.0
# f32[4] = float("nan"), float("-inf"), 0.0, 0.30103
# f32[4] = float("nan"), float("-inf"), 0.0, 0.6931472
# f64[4] = float("nan"), float("-inf"), 0.0, 0.6931471805599453
# f64[4] = float("nan"), float("-inf"), 0.0, 1.0
# f64[4] = float("nan"), float("-inf"), 0.0, 0.3010299956639812
# f64[4] = float("nan"), float("-inf"), 0.0, 0.6931471805599453
# f32[4] = float("nan"), 0.0, 1.0, 1.4142135
# f32[4] = float("nan"), float("inf"), 1.0, 0.70710677
# f32[4] = float("inf"), float("inf"), float("inf"), float("inf")
