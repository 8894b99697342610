def f(fd):
    x = fd.define_tensor(shape=[-1, contiguity=True)
    fd.add_output(x)

# ---- expect
# 2:52: unexpected `)`
#     x = fd.define_tensor(shape=[-1, contiguity=True)
#                                                    ^ expected `]`
