# Exponents that are a few factors: zeros and infinities keep their signs under odd ones, and a quotient by zero is infinite.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    strange = fd.ops.div(x, fd.ops.sub(x, x))
    fd.add_output(fd.ops.pow(x, 2.0))
    fd.add_output(fd.ops.pow(x, 3.0))
    fd.add_output(fd.ops.pow(x, -2.0))
    fd.add_output(fd.ops.pow(x, -3.0))
    fd.add_output(fd.ops.pow(x, -4.0))
    fd.add_output(fd.ops.pow(strange, 3.0))
    fd.add_output(fd.ops.pow(strange, -3.0))
    fd.add_output(fd.ops.pow(fd.ops.mul(x, 1e19), 4.0))

inputs = [torch.arange(-2, 3, 1, dtype=torch.float32)]

# ---- expect
# f32[5] = 4.0, 1.0, 0.0, 1.0, 4.0
# f32[5] = -8.0, -1.0, 0.0, 1.0, 8.0
# f32[5] = 0.25, 1.0, float("inf"), 1.0, 0.25
# f32[5] = -0.125, -1.0, float("inf"), 1.0, 0.125
# f32[5] = 0.0625, 1.0, float("inf"), 1.0, 0.0625
# f32[5] = float("-inf"), float("-inf"), float("nan"), float("inf"), float("inf")
# f32[5] = -0.0, -0.0, float("nan"), 0.0, 0.0
# f32[5] = float("inf"), float("inf"), 0.0, float("inf"), float("inf")
