# A bool that is chosen where the other choice is complex is the number 1 or 0.
def bools_beside_complex_numbers(fd):
    x = fd.define_tensor(shape=[-1], dtype=DataType.ComplexFloat)
    b = fd.ops.ne(fd.ops.real(x), 0.0)
    fd.add_output(fd.ops.where(b, b, x))
    fd.add_output(fd.ops.where(b, x, True))

inputs = [torch.arange(2, dtype=torch.complex64)]

# ---- expect
# c64[2] = 0.0+0.0j, 1.0+0.0j
# c64[2] = 1.0+0.0j, 1.0+0.0j
