# Zeros, infinities and NaN in parts, as NumPy has them.
def complex_numbers_at_their_ends(fd):
    T0 = fd.define_tensor(shape=[2], contiguity=True, dtype=DataType.ComplexFloat)
    zero = fd.ops.mul(T0, 0.0)
    one = fd.ops.full([2], 1.0, DataType.ComplexFloat)
    high = fd.ops.full([2], complex(float("inf"), 0.0), DataType.ComplexFloat)
    nan = fd.ops.full([2], complex(float("nan"), float("inf")), DataType.ComplexFloat)
    cut = fd.ops.full([2], complex(-4.0, -0.0), DataType.ComplexFloat)
    fd.add_output(fd.ops.div(one, zero))
    fd.add_output(fd.ops.exp(high))
    fd.add_output(fd.ops.abs(nan))
    fd.add_output(fd.ops.isinf(nan))
    fd.add_output(fd.ops.sqrt(nan))
    fd.add_output(fd.ops.sqrt(cut))
    fd.add_output(fd.ops.log(zero))
    fd.add_output(fd.ops.pow(zero, zero))
    fd.add_output(fd.ops.div(fd.ops.full([2], complex(1e30, 1e30), DataType.ComplexFloat), complex(1e30, 1e30)))

inputs = [torch.ones(2, dtype=torch.complex64)]

# ---- expect
# c64[2] = complex(float("inf"), float("nan")), complex(float("inf"), float("nan"))
# c64[2] = complex(float("inf"), 0.0), complex(float("inf"), 0.0)
# f32[2] = float("inf"), float("inf")
# bool[2] = True, True
# c64[2] = complex(float("inf"), float("inf")), complex(float("inf"), float("inf"))
# c64[2] = 0.0-2.0j, 0.0-2.0j
# c64[2] = complex(float("-inf"), 0.0), complex(float("-inf"), 0.0)
# c64[2] = 1.0+0.0j, 1.0+0.0j
# c64[2] = 1.0+0.0j, 1.0+0.0j
