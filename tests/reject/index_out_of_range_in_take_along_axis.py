def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    y = fd.ops.exp(x)
    fd.add_output(
        fd.ops.take_along_axis(y, index, dim=0)
    )

inputs = [torch.randn((3, 4)), torch.randint(-4, -3, (2, 4))]

# ---- expect
# line 5: `take_along_axis`: index -4 is out of range for axis 0 of size 3
