# Nothing is written outside; the smallest index is reported after the call.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.scatter(x, index, 1.0, dim=0))

inputs = [torch.zeros((6,)), torch.arange(3, -3, -1)]

# ---- expect
# line 5: `scatter`: index -2 is out of range for axis 0 of size 6
