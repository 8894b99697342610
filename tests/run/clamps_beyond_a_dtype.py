# A bound that no number of the dtype reaches binds none.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    small = fd.ops.cast(x, DataType.Byte)
    fd.add_output(fd.ops.clamp(x, 1, 1099511627776))
    fd.add_output(fd.ops.clamp(x, -1099511627776, None))
    fd.add_output(fd.ops.clamp(small, -5, 2))

inputs = [torch.arange(0, 4, 1, dtype=torch.int32)]

# ---- expect
# i32[4] = 1, 1, 2, 3
# i32[4] = 0, 1, 2, 3
# u8[4] = 0, 1, 2, 2
