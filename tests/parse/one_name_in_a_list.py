def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    [n] = fd.ops.shape(x)
    m, = fd.ops.shape(x)
    fd.add_output(x * n + m)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
#     c0 = fd.ops.size(tv0, dim=0)
#     c1 = fd.ops.size(tv0, dim=0)
#     tv1 = fd.ops.mul(tv0, c0)
#     tv2 = fd.ops.add(tv1, c1)
#     fd.add_output(tv2)
