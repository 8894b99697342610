def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.cumprod(x, dim=0, init=1+2j))

# ---- expect
# 3:49: `cumprod`: argument `init` must be a real number, as the tensor is real, but is a complex one
#     fd.add_output(fd.ops.cumprod(x, dim=0, init=1+2j))
#                                                 ^^^^ expected a real number, as the tensor is real
