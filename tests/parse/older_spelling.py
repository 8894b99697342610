# nvFuser's older spelling: T and S names, define_vector, a body without a function.
with FusionDefinition() as fd:
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    S1 = fd.define_scalar(2.00000, dtype=DataType.Double)
    T2 = fd.ops.mul(T0, S1)
    V3 = fd.define_vector([4, 8], dtype=DataType.Int)
    T4 = fd.ops.reshape(T2, new_shape=V3)
    fd.add_output(T4)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.ops.mul(tv0, 2.0)
#     tv2 = fd.ops.reshape(tv1, new_shape=[4, 8])
#     fd.add_output(tv2)
