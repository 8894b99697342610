def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    y = fd.ops.exp(x)
    fd.add_output(
        fd.ops.index_select(y, index, dim=0)
    )

inputs = [torch.randn((3, 4)), torch.arange(9)]

# ---- expect
# line 5: `index_select`: index 3 is out of range for axis 0 of size 3
