# Sizes are scalar values of the language.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    rows, columns = fd.ops.shape(x)
    y = fd.ops.reshape(x, new_shape=[fd.ops.mul(rows, columns)])
    fd.add_output(fd.ops.div(y, fd.ops.size(x, 0)))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     c0 = fd.ops.size(tv0, dim=0)
#     c1 = fd.ops.size(tv0, dim=1)
#     c2 = fd.ops.mul(c0, c1)
#     tv1 = fd.ops.reshape(tv0, new_shape=[c2])
#     c3 = fd.ops.size(tv0, dim=0)
#     tv2 = fd.ops.div(tv1, c3)
#     fd.add_output(tv2)
