# Every monoid, over integers.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.sum(x, dims=[1]))
    fd.add_output(fd.ops.max(x, dims=[0]))
    fd.add_output(fd.ops.min(x, dims=[0, 1]))
    fd.add_output(fd.ops.prod(x, dims=[1], keepdim=True))

inputs = [torch.arange(-3, 12, 1).reshape(5, 3).t()]

# ---- expect
# i64[3] = 15, 20, 25
# i64[5] = -1, 2, 5, 8, 11
# i64[] = -3
# i64[3, 1] = 0, -560, -880
