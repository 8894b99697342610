# The order of an output in memory, in the older spelling and the newer one.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    y = fd.ops.stride_order(x, [-2, 1])
    fd.add_output(y)
    fd.add_output(x, stride_order=[0, 1])

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.ops.stride_order(tv0, stride_order=[-2, 1])
#     fd.add_output(tv1)
#     tv2 = fd.ops.stride_order(tv0, stride_order=[0, 1])
#     fd.add_output(tv2)
