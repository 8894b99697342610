# As in nvFuser: a half type would be computed in f32, whose neighbours are others.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Half)
    fd.add_output(fd.ops.nextafter(x, x))

# ---- expect
# 4:36: `nextafter`: argument `lhs` must be f32 or f64, but is f16
#     fd.add_output(fd.ops.nextafter(x, x))
#                                    ^ expected f32 or f64
