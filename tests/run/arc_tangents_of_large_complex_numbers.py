# Neither twice a part nor four times one may overflow.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    large, zero = x * 1.1e38, x * 0.0
    fd.add_output(fd.ops.real(fd.ops.atan(fd.ops.complex(large, zero))))
    fd.add_output(fd.ops.imag(fd.ops.atan(fd.ops.complex(zero, large))))
    fd.add_output(fd.ops.real(fd.ops.atan(fd.ops.complex(large, large))))
    fd.add_output(fd.ops.imag(fd.ops.atanh(fd.ops.complex(zero, large))))

inputs = [torch.arange(-3.0, 4.0, 1.0, dtype=torch.float32)]

# ---- expect
# f32[7] = -1.5707964, -1.5707964, -1.5707964, 0.0, 1.5707964, 1.5707964, 1.5707964
# f32[7] = -0.0, -0.0, -0.0, 0.0, 0.0, 0.0, 0.0
# f32[7] = -1.5707964, -1.5707964, -1.5707964, 0.0, 1.5707964, 1.5707964, 1.5707964
# f32[7] = -1.5707964, -1.5707964, -1.5707964, 0.0, 1.5707964, 1.5707964, 1.5707964
