def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("outer", stay=True, device="cuda:0"):
        y = fd.ops.exp(x)
        with fd.group("inner", device="cuda:1"):
            z = fd.ops.sin(y)
    fd.add_output(z)

# ---- expect
# 5:39: `group`: argument `device` must be that of `outer`, which stays in one segment: cuda:0, but is "cuda:1"
#         with fd.group("inner", device="cuda:1"):
#                                       ^^^^^^^^ expected that of `outer`, which stays in one segment: cuda:0
