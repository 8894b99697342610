# A scan along rows with little beside it: lanes would each walk a row of their own, so rows are walked four together.
def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.cumsum(T0 * 2.0, 1))

# ---- expect
# # seg0
# schedule lanes 16
# block x0 by 16
# inner x1
# jam x0 by 4
