# Arithmetic happens in i32, or i64 for u32, and wraps back; floats go through these too.
def f(fd):
    u8 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Byte)
    i8 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Char)
    i16 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Short)
    u16 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.UInt16)
    u32 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.UInt32)
    fd.add_output(fd.ops.add(u8, 200))
    fd.add_output(fd.ops.add(u8, i8))
    fd.add_output(fd.ops.add(u16, i8))
    fd.add_output(fd.ops.mul(u32, i8))
    fd.add_output(fd.ops.mul(u32, u8))
    fd.add_output(fd.ops.neg(i8))
    fd.add_output(fd.ops.bitwise_not(u16))
    fd.add_output(fd.ops.bitwise_left_shift(i16, 9))
    fd.add_output(fd.ops.bitwise_right_shift(i8, 1))
    fd.add_output(fd.ops.truediv(u8, 255.0))
    fd.add_output(fd.ops.lt(i8, u8))
    fd.add_output(fd.ops.where(fd.ops.lt(i8, 0), u8, 7))
    fd.add_output(fd.ops.sum(u8, dims=[0]))
    fd.add_output(fd.ops.max(i8, dims=[0]))
    fd.add_output(fd.ops.cumsum(u8, 0))
    fd.add_output(fd.ops.cast(fd.ops.mul(fd.ops.cast(i16, dtype=DataType.Float), 1.5), dtype=DataType.Byte))
    fd.add_output(fd.ops.cast(fd.ops.mul(fd.ops.cast(i16, dtype=DataType.Half), -0.5), dtype=DataType.UInt32))
    fd.add_output(fd.ops.cast(u32, dtype=DataType.Float))
    fd.add_output(fd.ops.iota(4, 250, 3, DataType.Byte))

inputs = [
    torch.arange(0, 200, 60, dtype=torch.uint8),
    torch.arange(-128, 127, 80, dtype=torch.int8),
    torch.arange(-300, 400, 200, dtype=torch.int16),
    torch.arange(0, 65536, 20000, dtype=torch.uint16),
    torch.arange(0, 4294967296, 1400000000, dtype=torch.uint32),
]

# ---- expect
# u8[4] = 200, 4, 64, 124
# i16[4] = -128, 12, 152, 292
# i32[4] = -128, 19952, 40032, 60112
# i64[4] = 0, -67200000000, 89600000000, 470400000000
# u32[4] = 0, 2395621376, 992550912, 85755904
# i8[4] = -128, 48, -32, -112
# u16[4] = 65535, 45535, 25535, 5535
# i16[4] = -22528, 14336, -14336, 22528
# i8[4] = -64, -24, 16, 56
# f32[4] = 0.0, 0.23529412, 0.47058824, 0.7058824
# bool[4] = True, True, True, True
# u8[4] = 0, 60, 7, 7
# i64[] = 360
# i8[] = 112
# u8[4] = 0, 60, 180, 104
# u8[4] = 62, 106, 150, 194
# u32[4] = 150, 50, 4294967246, 4294967146
# f32[4] = 0.0, 1400000000.0, 2800000000.0, 4200000000.0
# u8[4] = 250, 253, 0, 3
