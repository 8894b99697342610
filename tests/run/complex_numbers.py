# Complex numbers are pairs of reals in memory, in sums and in constants.
def complex_numbers(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.ComplexFloat)
    S1 = fd.define_scalar(None, dtype=DataType.ComplexDouble)
    T2 = fd.ops.mul(T0, 1.0 + 2.0j)
    T3 = fd.ops.sum(T2, dims=[1])
    T4 = fd.ops.mul(T3, S1)
    T5 = fd.ops.abs(T4)
    T6 = fd.ops.permute(T0, [1, 0])
    T7, T8 = fd.ops.var_mean(T2, dims=[0])
    fd.add_output(T4)
    fd.add_output(T5)
    fd.add_output(T6)
    fd.add_output(fd.ops.imag(T2))
    fd.add_output(T7)
    fd.add_output(T8)

inputs = [torch.arange(1, 7).to(torch.complex64).as_strided((2, 3), (3, 1)), 2j]

# ---- expect
# c64[2] = -24.0+12.0j, -60.0+30.0j
# f32[2] = 26.832817, 67.08204
# c64[3, 2] = 1.0+0.0j, 4.0+0.0j, 2.0+0.0j, 5.0+0.0j, 3.0+0.0j, 6.0+0.0j
# f32[2, 3] = 2.0, 4.0, 6.0, 8.0, 10.0, 12.0
# f32[3] = 22.5, 22.5, 22.5
# c64[3] = 2.5+5.0j, 3.5+7.0j, 4.5+9.0j
