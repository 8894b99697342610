# To nearest even; e4m3 knows no infinity and makes NaN of what is too large, e5m2 overflows, e8m0 holds powers of two alone.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    large = fd.ops.add(x, 464.0)
    larger = fd.ops.add(fd.ops.mul(x, 4096.0), 61440.0)
    fd.add_output(fd.ops.cast(large, dtype=DataType.Float8_e4m3fn))
    fd.add_output(fd.ops.cast(larger, dtype=DataType.Float8_e5m2))
    fd.add_output(fd.ops.cast(fd.ops.add(x, 2.0), dtype=DataType.Float8_e8m0fnu))
    fd.add_output(fd.ops.cast(fd.ops.mul(x, 0.00048828125), dtype=DataType.Float8_e4m3fn))
    fd.add_output(fd.ops.cast(fd.ops.mul(x, 3.814697265625e-06), dtype=DataType.Float8_e5m2))
    byte = fd.ops.cast(x, dtype=DataType.Float8_e4m3fn)
    fd.add_output(fd.ops.add(byte, 1))
    fd.add_output(fd.ops.exp(byte))
    fd.add_output(fd.ops.abs(byte))
    fd.add_output(fd.ops.where(fd.ops.gt(x, 0), byte, 2.0))
    fd.add_output(fd.ops.cast(byte, dtype=DataType.UInt64))
    fd.add_output(fd.ops.sum(byte))

inputs = [torch.arange(-3, 6, 1, dtype=torch.float32)]

# ---- expect
# f8e4m3[9] = 450.0, 450.0, 450.0, 450.0, float("nan"), float("nan"), float("nan"), float("nan"), float("nan")
# f8e5m2[9] = 50000.0, 50000.0, 60000.0, float("inf"), float("inf"), float("inf"), float("inf"), float("inf"), float("inf")
# f8e8m0[9] = 1.0, 5.877e-39, 1.0, 2.0, 4.0, 4.0, 4.0, 8.0, 8.0
# f8e4m3[9] = -0.002, -0.0, -0.0, 0.0, 0.0, 0.0, 0.002, 0.002, 0.002
# f8e5m2[9] = -2e-5, -0.0, -0.0, 0.0, 0.0, 0.0, 2e-5, 2e-5, 2e-5
# f32[9] = -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
# f32[9] = 0.049787067, 0.13533528, 0.36787945, 1.0, 2.7182817, 7.389056, 20.085537, 54.59815, 148.41316
# f8e4m3[9] = 3.0, 2.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
# f8e4m3[9] = 2.0, 2.0, 2.0, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0
# u64[9] = 0, 0, 0, 0, 1, 2, 3, 4, 5
# f8e4m3[] = 9.0
