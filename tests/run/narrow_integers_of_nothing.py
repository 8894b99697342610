# The extremes of no elements are the dtype's own.
def f(fd):
    i8 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Char)
    u16 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.UInt16)
    fd.add_output(fd.ops.max(i8, dims=[1]))
    fd.add_output(fd.ops.min(i8, dims=[1]))
    fd.add_output(fd.ops.max(u16, dims=[1]))
    fd.add_output(fd.ops.min(u16, dims=[1]))

inputs = [torch.zeros(2, 0, dtype=torch.int8), torch.zeros(2, 0, dtype=torch.uint16)]

# ---- expect
# i8[2] = -128, -128
# i8[2] = 127, 127
# u16[2] = 0, 0
# u16[2] = 65535, 65535
