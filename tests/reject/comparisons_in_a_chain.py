def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(1 < x < 2)

# ---- expect
# 3:25: unexpected `<`
#     fd.add_output(1 < x < 2)
#                         ^ expected the end of the comparison
# help: combine two comparisons: (a < b) & (b < c)
