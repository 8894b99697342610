# Of an axis of size 0 no index is in range.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.index_select(x, index, dim=0))

inputs = [torch.randn((0, 4)), torch.zeros((2,), dtype=torch.int64)]

# ---- expect
# line 5: `index_select`: axis 0 is empty, so no index is in range
