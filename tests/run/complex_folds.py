# Folds and scans of complex tensors by a lambda over complex numbers, alone and together with a real tensor.
def complex_folds(fd):
    T0 = fd.define_tensor(shape=[2, 3], contiguity=True, dtype=DataType.Float)
    z = fd.ops.complex(T0, fd.ops.sub(1.0, T0))
    fd.add_output(fd.ops.fold(z, lambda a, b: a + b + a * b, init=0.0, dims=[1]))
    slope, start = fd.ops.scan([z, z], lambda a, b, c, d: [a * c, c * b + d], init=[1.0, 0.0], dim=1)
    fd.add_output(slope)
    fd.add_output(start)
    total, most = fd.ops.fold([z, T0], lambda a, m, b, n: [a + b, fd.ops.maximum(m, n)], init=[0j, -1.0], dims=[1])
    fd.add_output(total)
    fd.add_output(most)
    fd.add_output(fd.ops.fold(z, "prod", dims=[0], keepdim=True))
    fd.add_output(fd.ops.scan(z, "sum", dim=0))

inputs = [torch.arange(6, dtype=torch.float32).reshape(2, 3)]

# ---- expect
# c64[2] = 7.0+4.0j, -5.0-188.0j
# c64[2, 3] = 0.0+1.0j, 0.0+1.0j, 1.0+2.0j, 3.0-2.0j, 6.0-17.0j, -38.0-109.0j
# c64[2, 3] = 0.0+1.0j, 1.0+1.0j, 5.0+0.0j, 3.0-2.0j, 10.0-20.0j, -25.0-144.0j
# c64[2] = 3.0+0.0j, 12.0-9.0j
# f32[2] = 2.0, 5.0
# c64[1, 3] = 2.0+3.0j, 4.0-3.0j, 6.0-13.0j
# c64[2, 3] = 0.0+1.0j, 1.0+0.0j, 2.0-1.0j, 3.0-1.0j, 5.0-3.0j, 7.0-5.0j
