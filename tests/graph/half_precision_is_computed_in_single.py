# Arithmetic on a half type happens in f32; the value is rounded only where the user says so.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Half)
    fd.add_output(fd.ops.cast(fd.ops.mul(x, x), dtype=DataType.Half))

# ---- expect
# n0 = input 0 : f16[i0]
# n1 = cast f32 (n0) : f32[i0]
# n2 = mul (n1, n1) : f32[i0]
# n3 = cast f16 (n2) : f16[i0]
# output n3
