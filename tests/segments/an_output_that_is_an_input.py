# Nothing to compute: a copy.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(x)

inputs = [torch.randn((10,))]

# ---- expect
#
# segment  ops  reads  writes  passes  runs as  recomputed
#
# 80 B moved, 80 B compulsory, traffic ratio 1.000
