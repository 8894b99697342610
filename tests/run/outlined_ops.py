# An op of which a kernel has many is a function of its module, also where one operand is a number and the other is not.
def outlined_ops(fd):
    T0 = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.Float)
    T1 = fd.ops.atan2(T0, 1.0)
    T2 = fd.ops.atan2(T1, 1.0)
    T3 = fd.ops.atan2(T2, 1.0)
    T4 = fd.ops.atan2(T3, 1.0)
    T5 = fd.ops.atan2(T4, 1.0)
    T6 = fd.ops.atan2(0.5, T5)
    T7 = fd.ops.sub(fd.ops.lgamma(T0), fd.ops.lgamma(T0))
    fd.add_output(T5)
    fd.add_output(T6)
    fd.add_output(T7)

inputs = [torch.arange(4, dtype=torch.float32)]

# ---- expect
# f32[4] = 0.0, 0.48821035, 0.5465193, 0.56279844
# f32[4] = 1.5707964, 0.7973279, 0.740976, 0.726379
# f32[4] = float("nan"), 0.0, 0.0, 0.0
