# A sum begins with zero, so one of -0 alone is +0: its angle is 0 and not -pi.
def product_of_zeros_below_zero(fd):
    x = fd.define_tensor(shape=[-1, 1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[1, -1], contiguity=True, dtype=DataType.Float)
    product = fd.ops.matmul(fd.ops.neg(x), y)
    fd.add_output(fd.ops.atan2(product, product))

inputs = [torch.zeros(2, 1), torch.ones(1, 3)]

# ---- expect
# f32[2, 3] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
