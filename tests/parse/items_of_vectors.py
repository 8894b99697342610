def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    V1 = fd.ops.shape(T0)
    S2 = fd.ops.at(V1, 0)
    V3 = fd.define_vector([S2, 1])
    S4 = V3.at(-1)
    T5 = fd.ops.sum(T0, dims=[1])
    T6 = fd.ops.reshape(T5, new_shape=[fd.ops.at(vector=V1, index=0), S4])
    fd.add_output(T6)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     c0 = fd.ops.size(tv0, dim=0)
#     c1 = fd.ops.size(tv0, dim=1)
#     tv1 = fd.ops.sum(tv0, dims=[1])
#     tv2 = fd.ops.reshape(tv1, new_shape=[c0, 1])
#     fd.add_output(tv2)
