def f(fd):
    a = fd.define_tensor(shape=[-1, 8], contiguity=True)
    b = fd.define_tensor(shape=[8, -1], contiguity=True)
    fd.add_output(2 * (a @ b))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, 8], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[8, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv2 = fd.ops.matmul(tv0, tv1)
#     tv3 = fd.ops.mul(2, tv2)
#     fd.add_output(tv3)
