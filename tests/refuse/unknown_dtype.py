def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float7)
    fd.add_output(x)

# ---- expect
# 2:61: unknown dtype `DataType.Float7`
#     x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float7)
#                                                             ^^^^^^^^^^^^^^^ expected a dtype
# help: known: Bool, Int32, Int, Half, BFloat16, Float, Double
