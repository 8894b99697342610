# Lambdas print as they were written, operators as the ops they stand for.
def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    half = 0.5
    T1 = fd.ops.fold(T0, lambda a, b: (a + b) * 2.0 * half, init=0.0, dims=[1])
    T2, T3 = fd.ops.scan([T0, T0], combine=lambda m, s, n, t: [fd.ops.maximum(m, n), fd.ops.where(m < n, t, s)], init=[float("-inf"), 0], dim=0)
    T4 = fd.ops.fold(T0, "sum", dims=[0, 1])
    fd.add_output(T1)
    fd.add_output(T2)
    fd.add_output(T3)
    fd.add_output(T4)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.ops.fold([tv0], combine=lambda a, b: fd.ops.mul(fd.ops.mul(fd.ops.add(a, b), 2.0), 0.5), init=[0.0], dims=[1])
#     tv2, tv3 = fd.ops.scan([tv0, tv0], combine=lambda m, s, n, t: [fd.ops.maximum(m, n), fd.ops.where(fd.ops.lt(m, n), t, s)], init=[float("-inf"), 0], dim=0)
#     tv4 = fd.ops.fold([tv0], combine="sum", dims=[0, 1])
#     fd.add_output(tv1)
#     fd.add_output(tv2)
#     fd.add_output(tv3)
#     fd.add_output(tv4)
