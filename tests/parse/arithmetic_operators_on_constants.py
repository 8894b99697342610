# Python computes constants before the definition sees them.
def f(fd):
    x = fd.define_tensor(shape=[2 ** 3, 3 * 4 + 1], contiguity=True)
    fd.add_output(fd.ops.mul(x, 1 / 8))
    fd.add_output(fd.ops.add(x, -(7 // 2)))
    fd.add_output(fd.ops.add(x, -7 // 2 + 2 ** -1))
    fd.add_output(fd.ops.where(3 > 2, x, ~True))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[8, 13], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.ops.mul(tv0, 0.125)
#     fd.add_output(tv1)
#     tv2 = fd.ops.add(tv0, -3)
#     fd.add_output(tv2)
#     tv3 = fd.ops.add(tv0, -3.5)
#     fd.add_output(tv3)
#     tv4 = fd.ops.where(True, tv0, -2)
#     fd.add_output(tv4)
