def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float7)
    fd.add_output(x)

# ---- expect
# 2:61: unknown dtype `DataType.Float7`
#     x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float7)
#                                                             ^^^^^^^^^^^^^^^ expected a dtype
# help: known: Bool, Char, Short, Int32, Int, Byte, UInt16, UInt32, UInt64, Float8_e8m0fnu, Float8_e4m3fn, Float8_e5m2, Half, BFloat16, Float, Double, ComplexFloat, ComplexDouble
