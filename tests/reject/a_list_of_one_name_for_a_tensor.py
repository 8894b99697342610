def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    [y] = fd.ops.exp(x)
    fd.add_output(y)

# ---- expect
# 3:11: only lists are unpacked
#     [y] = fd.ops.exp(x)
#           ^^^^^^^^^^^^^ expected a list of 1
