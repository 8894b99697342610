# acosh below 1 is NaN, however large the product of its terms.
def acosh_below_one(fd):
    T0 = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.Float)
    T1 = fd.ops.acosh(fd.ops.mul(T0, 1e38))
    fd.add_output(T1)

inputs = [torch.full((4,), -3.0)]

# ---- expect
# f32[4] = float("nan"), float("nan"), float("nan"), float("nan")
