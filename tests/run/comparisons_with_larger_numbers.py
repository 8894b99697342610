# What an integer dtype cannot hold is compared with in i64.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.lt(x, 1099511627776))
    fd.add_output(fd.ops.eq(x, 4294967297))
    fd.add_output(fd.ops.ge(fd.ops.cast(x, DataType.Byte), 300))

inputs = [torch.arange(0, 3, 1, dtype=torch.int32)]

# ---- expect
# bool[3] = True, True, True
# bool[3] = False, False, False
# bool[3] = False, False, False
