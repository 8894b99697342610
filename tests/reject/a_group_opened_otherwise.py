def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("norm", stay=True):
        y = fd.ops.exp(x)
    with fd.group("norm", device="cuda:0"):
        z = fd.ops.exp(y)
    fd.add_output(z)

# ---- expect
# 5:19: `group`: argument `name` must be a new one, as `norm` was opened with stay=True, on the device of the call, but is "norm"
#     with fd.group("norm", device="cuda:0"):
#                   ^^^^^^ expected a new one, as `norm` was opened with stay=True, on the device of the call
