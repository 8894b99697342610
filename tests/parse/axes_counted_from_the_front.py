# Axes print counted from the front, and not at all where that is the default.
def f(fd):
    x = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[4, 8], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.cat([x, x], dim=-1))
    fd.add_output(fd.ops.cat([y, y], dim=-1))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[4], contiguity=[True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[4, 8], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv2 = fd.ops.cat([tv0, tv0])
#     fd.add_output(tv2)
#     tv3 = fd.ops.cat([tv1, tv1], dim=1)
#     fd.add_output(tv3)
