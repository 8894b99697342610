# NaN wins in extrema, -0 lies below 0, and signs of zeros survive.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    zero = fd.define_tensor(shape=[-1], contiguity=True)
    strange = fd.ops.div(x, zero)
    zeros = fd.ops.mul(x, zero)
    fd.add_output(fd.ops.maximum(strange, x))
    fd.add_output(fd.ops.minimum(x, strange))
    fd.add_output(fd.ops.maximum(zeros, fd.ops.neg(zeros)))
    fd.add_output(fd.ops.minimum(zeros, fd.ops.neg(zeros)))
    fd.add_output(fd.ops.max(strange))
    fd.add_output(fd.ops.min(zeros))
    fd.add_output(fd.ops.max(zeros))
    fd.add_output(fd.ops.abs(strange))
    fd.add_output(fd.ops.abs(zeros))
    fd.add_output(fd.ops.sign(strange))
    fd.add_output(fd.ops.sign(zeros))
    fd.add_output(fd.ops.signbit(zeros))
    fd.add_output(fd.ops.round(strange))
    fd.add_output(fd.ops.round(fd.ops.mul(x, 0.5)))
    fd.add_output(fd.ops.round(fd.ops.mul(x, 1.5)))
    fd.add_output(fd.ops.trunc(fd.ops.mul(x, 0.5)))
    fd.add_output(fd.ops.ceil(fd.ops.mul(x, 0.5)))
    fd.add_output(fd.ops.relu(strange))
    fd.add_output(fd.ops.clamp(strange, -2.0, 2.0))

inputs = [torch.arange(-1, 2, 1, dtype=torch.float32), torch.zeros(3)]

# ---- expect
# f32[3] = -1.0, float("nan"), float("inf")
# f32[3] = float("-inf"), float("nan"), 1.0
# f32[3] = 0.0, 0.0, 0.0
# f32[3] = -0.0, -0.0, -0.0
# f32[] = float("nan")
# f32[] = -0.0
# f32[] = 0.0
# f32[3] = float("inf"), float("nan"), float("inf")
# f32[3] = 0.0, 0.0, 0.0
# f32[3] = -1.0, float("nan"), 1.0
# f32[3] = -0.0, 0.0, 0.0
# bool[3] = True, False, False
# f32[3] = float("-inf"), float("nan"), float("inf")
# f32[3] = -0.0, 0.0, 0.0
# f32[3] = -2.0, 0.0, 2.0
# f32[3] = -0.0, 0.0, 0.0
# f32[3] = -0.0, 0.0, 1.0
# f32[3] = 0.0, float("nan"), float("inf")
# f32[3] = -2.0, float("nan"), 2.0
