def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.neg(x))

inputs = [torch.zeros(3, dtype=torch.uint8)]

# ---- expect
# 5:32: the dtype `uint8` is not supported
# inputs = [torch.zeros(3, dtype=torch.uint8)]
#                                ^^^^^^^^^^^ expected a dtype such as torch.float32
# help: known: bool, int32, int64, uint64, float8_e8m0fnu, float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64, complex64, complex128
