# Nothing is written outside; the index is reported after the call.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.scatter(x, index, 1.0, dim=0))

inputs = [torch.zeros((4,)), torch.arange(3, -3, -1)]

# ---- expect
# scatter: index -1 is out of range for an axis of size 4
