# Infinities at the ends, NaN beyond, few ulp between, in f32 and f64; a half type stays in f32.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    wide = fd.ops.cast(x, dtype=DataType.Double)
    fd.add_output(fd.ops.erfinv(x))
    fd.add_output(fd.ops.erfinv(wide))
    fd.add_output(fd.ops.erfcinv(fd.ops.add(x, 1)))
    fd.add_output(fd.ops.erfcinv(fd.ops.add(wide, 1)))
    fd.add_output(fd.ops.erfcinv(fd.ops.exp2(fd.ops.mul(wide, 700))))
    fd.add_output(fd.ops.erfinv(fd.ops.cast(x, dtype=DataType.Half)))

inputs = [torch.arange(-1.5, 2, 0.5, dtype=torch.float32)]

# ---- expect
# f32[7] = float("nan"), float("-inf"), -0.47693628, 0.0, 0.47693628, float("inf"), float("nan")
# f64[7] = float("nan"), float("-inf"), -0.4769362762044699, 0.0, 0.4769362762044699, float("inf"), float("nan")
# f32[7] = float("nan"), float("inf"), 0.47693628, 0.0, -0.47693628, float("-inf"), float("nan")
# f64[7] = float("nan"), float("inf"), 0.4769362762044699, 0.0, -0.4769362762044699, float("-inf"), float("nan")
# f64[7] = 26.906116990557116, 21.944045433185682, 15.468944214532868, 0.0, float("nan"), float("nan"), float("nan")
# f32[7] = float("nan"), float("-inf"), -0.47693628, 0.0, 0.47693628, float("inf"), float("nan")
