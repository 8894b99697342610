# Products of complex matrices, averages, scatters, and cumulative products that start from a number.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.ComplexFloat)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    a = fd.ops.mul(x, 1.0 - 1.0j)
    b = fd.ops.add(x, 2.0j)
    bias = fd.ops.sum(x, dims=[1])
    fd.add_output(fd.ops.matmul(a, fd.ops.permute(b, dims=[1, 0])))
    fd.add_output(fd.ops.linear(a, b, bias))
    fd.add_output(fd.ops.mean(a, dims=[1]))
    fd.add_output(fd.ops.standard_deviation(a, dims=[0], correction=0))
    fd.add_output(fd.ops.cumprod(b, dim=1, init=2.0 - 1.0j))
    fd.add_output(fd.ops.cumprod(b, dim=1, init=0.5))
    fd.add_output(fd.ops.scatter(a, index, b, dim=0))
    fd.add_output(fd.ops.scatter(a, index, 3.0, dim=1))

inputs = [torch.arange(1, 5).to(torch.complex64).as_strided((2, 2), (2, 1)), torch.arange(0, 2, 1).as_strided((2, 2), (0, 1))]

# ---- expect
# c64[2, 2] = 11.0+1.0j, 17.0-5.0j, 25.0+3.0j, 39.0-11.0j
# c64[2, 2] = 14.0+1.0j, 24.0-5.0j, 28.0+3.0j, 46.0-11.0j
# c64[2] = 1.5-1.5j, 3.5-3.5j
# f32[2] = 1.4142135, 1.4142135
# c64[2, 2] = 4.0+3.0j, 2.0+14.0j, 8.0+1.0j, 30.0+20.0j
# c64[2, 2] = 0.5+1.0j, -1.0+3.0j, 1.5+1.0j, 4.0+7.0j
# c64[2, 2] = 3.0+2.0j, 2.0-2.0j, 3.0-3.0j, 4.0+2.0j
# c64[2, 2] = 3.0+0.0j, 3.0+0.0j, 3.0+0.0j, 3.0+0.0j
