def f(fd):
    fd.add_output(fd.ops.full([2], fill_value=300, dtype=DataType.Byte))

# ---- expect
# 2:47: `full`: argument `fill_value` must be a number that u8 can hold, but is the number 300
#     fd.add_output(fd.ops.full([2], fill_value=300, dtype=DataType.Byte))
#                                               ^^^ expected a number that u8 can hold
