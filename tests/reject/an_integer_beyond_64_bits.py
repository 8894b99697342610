def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(x + 2 ** 64)

# ---- expect
# 3:23: `**` of these numbers is no number
#     fd.add_output(x + 2 ** 64)
#                       ^^^^^^^ expected an integer that 64 bits hold
