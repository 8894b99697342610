# An output written into the memory of an input.
def f(fd):
    weight = fd.define_tensor(shape=[-1], contiguity=True)
    grad = fd.define_tensor(shape=[-1], contiguity=True)
    updated = fd.ops.sub(weight, fd.ops.mul(grad, 0.01))
    fd.add_output(updated, weight)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
#     tv2 = fd.ops.mul(tv1, 0.01)
#     tv3 = fd.ops.sub(tv0, tv2)
#     fd.add_output(tv3, tv0)
