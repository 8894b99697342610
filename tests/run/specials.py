# Infinities and NaN through a softmax's folds.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    inverse = fd.ops.reciprocal(x)
    fd.add_output(inverse)
    fd.add_output(fd.ops.max(fd.ops.log(x), dims=[1]))

inputs = [torch.arange(-1, 2, 1, dtype=torch.float32).reshape(1, 3)]

# ---- expect
# f32[1, 3] = -1.0, float("inf"), 1.0
# f32[1] = float("nan")
