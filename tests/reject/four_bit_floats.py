def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float4_e2m1fn)
    fd.add_output(x)

# ---- expect
# 2:61: the dtype `DataType.Float4_e2m1fn` is not supported
#     x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float4_e2m1fn)
#                                                             ^^^^^^^^^^^^^^^^^^^^^^ expected a dtype
# help: known: Bool, Char, Short, Int32, Int, Byte, UInt16, UInt32, UInt64, Float8_e8m0fnu, Float8_e4m3fn, Float8_e5m2, Half, BFloat16, Float, Double, ComplexFloat, ComplexDouble
