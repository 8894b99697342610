def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(x * (7 % 0))

# ---- expect
# 3:24: `%` of these numbers is no number
#     fd.add_output(x * (7 % 0))
#                        ^^^^^ division by zero
