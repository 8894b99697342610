def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.imag(x))

# ---- expect
# 3:31: `imag`: argument `x` must be a complex number, but is f32
#     fd.add_output(fd.ops.imag(x))
#                               ^ expected a complex number
