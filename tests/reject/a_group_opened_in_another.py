def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("outer"):
        with fd.group("inner"):
            y = fd.ops.exp(x)
    with fd.group("inner"):
        z = fd.ops.exp(y)
    fd.add_output(z)

# ---- expect
# 6:19: `group`: argument `name` must be a new one, as `inner` was opened in `outer`, but is "inner"
#     with fd.group("inner"):
#                   ^^^^^^^ expected a new one, as `inner` was opened in `outer`
