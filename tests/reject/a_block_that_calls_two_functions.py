def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.exp(x))

def g(fd):
    y = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.sin(y))

with FusionDefinition() as fd:
    f(fd)
    g(fd)

# ---- expect
# 11:5: this block calls `f` and does something else
#     g(fd)
#     ^^^^^ expected nothing but the call, or the lines of `f` here
