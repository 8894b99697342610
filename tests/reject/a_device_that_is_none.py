def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("far", device="gpu"):
        fd.add_output(fd.ops.exp(x))

# ---- expect
# 3:33: `group`: argument `device` must be "cpu", "cuda" or "cuda:N", but is "gpu"
#     with fd.group("far", device="gpu"):
#                                 ^^^^^ expected "cpu", "cuda" or "cuda:N"
