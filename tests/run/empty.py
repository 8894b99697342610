# Folds over nothing give what their monoid starts with.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.sum(x, dims=[0]))
    fd.add_output(fd.ops.max(x, dims=[0]))
    fd.add_output(fd.ops.exp(x))

inputs = [torch.randn((0, 3))]

# ---- expect
# f32[3] = 0.0, 0.0, 0.0
# f32[3] = float("-inf"), float("-inf"), float("-inf")
# f32[0, 3] =
