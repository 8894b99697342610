# What is asked of one part is as large as the number, though that part is not.
def parts(fd):
    s = fd.define_tensor(shape=[], dtype=DataType.Float)
    x = fd.define_tensor(shape=[-1, 4], contiguity=True, dtype=DataType.Float)
    small_real = fd.ops.complex(s, x)
    small_imaginary = fd.ops.complex(x, s)
    fd.add_output(fd.ops.cast(small_real, dtype=DataType.Float))
    fd.add_output(fd.ops.isreal(small_imaginary))
    fd.add_output(fd.ops.sum(fd.ops.cast(small_real, dtype=DataType.Double), dims=[0]))

inputs = [torch.ones(()), torch.ones((3, 4))]

# ---- expect
# f32[3, 4] = 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
# bool[3, 4] = False, False, False, False, False, False, False, False, False, False, False, False
# f64[4] = 3.0, 3.0, 3.0, 3.0
