# 2^63 - 1 is reported as what it is.
def f(fd):
    x = fd.define_tensor(shape=[-1, 4], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    far = fd.ops.bitwise_not(fd.ops.bitwise_left_shift(fd.ops.add(index, 1), 63))
    fd.add_output(fd.ops.index_select(x, far, dim=0))

inputs = [torch.randn((3, 4)), torch.zeros((2,), dtype=torch.int64)]

# ---- expect
# line 6: `index_select`: index 9223372036854775807 is out of range for axis 0 of size 3
