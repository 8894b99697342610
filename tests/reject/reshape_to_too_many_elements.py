def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.reshape(x, [4294967296, 4294967296]))
inputs = [torch.randn((4, 5))]

# ---- expect
# 3:37: `reshape` needs a shape of i0*i1 elements, but has one of overflow
#     fd.add_output(fd.ops.reshape(x, [4294967296, 4294967296]))
#                                     ^^^^^^^^^^^^^^^^^^^^^^^^ here
