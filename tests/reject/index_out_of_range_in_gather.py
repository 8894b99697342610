def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    y = fd.ops.exp(x)
    fd.add_output(
        fd.ops.gather(y, index, dim=1)
    )

inputs = [torch.randn((3, 4)), torch.arange(6).as_strided((3, 2), (2, 1))]

# ---- expect
# line 5: `gather`: index 4 is out of range for axis 1 of size 4
