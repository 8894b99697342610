# Rows of equal numbers deviate from nothing, whatever their length and wherever lanes end.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    variance, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=False)
    fd.add_output(variance)

inputs = [torch.full((2, 63), 330000.1, dtype=torch.float32)]

# ---- expect
# f32[2] = 0.0, 0.0
