# test: target=avx512
# Of lambdas that rescale sums by the larger maximum each state is a fold of its own, whether they rescale both sums, that of the
# smaller maximum, or by a factor with a guard.
def rescaled_sums_are_folds(fd):
    x = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.Float)
    t = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.Float)
    _, both = fd.ops.fold(
        [x, t],
        lambda a, s, b, t: [
            fd.ops.maximum(b, a),
            t * fd.ops.exp(b - fd.ops.maximum(b, a)) + fd.ops.exp(a - fd.ops.maximum(b, a)) * s,
        ],
        init=[-1e30, 0.0],
        dims=[1],
    )
    _, smaller = fd.ops.fold(
        [x, t],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            fd.ops.where(a <= b, s, t) * fd.ops.exp(-fd.ops.abs(a - b)) + fd.ops.where(a <= b, t, s),
        ],
        init=[-2e30, 0.0],
        dims=[1],
    )
    _, guarded = fd.ops.fold(
        [x, t],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            s * fd.ops.where(a == fd.ops.maximum(a, b), 1.0, fd.ops.exp(a - fd.ops.maximum(a, b)))
            + t * fd.ops.where(b == fd.ops.maximum(a, b), 1.0, fd.ops.exp(b - fd.ops.maximum(a, b))),
        ],
        init=[-3e30, 0.0],
        dims=[1],
    )
    fd.add_output(both)
    fd.add_output(smaller)
    fd.add_output(guarded)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[4096, 4096], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[4096, 4096], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv2 = fd.ops.max(tv0, dims=[1])
#     tv3 = fd.ops.maximum(tv2, -1e30)
#     tv4 = fd.ops.broadcast(tv3, is_broadcast_dim=[False, True])
#     tv5 = fd.ops.sub(tv0, tv4)
#     tv6 = fd.ops.maximum(tv2, -2e30)
#     tv7 = fd.ops.broadcast(tv6, is_broadcast_dim=[False, True])
#     tv8 = fd.ops.sub(tv0, tv7)
#     tv9 = fd.ops.eq(tv0, tv7)
#     tv10 = fd.ops.eq(tv6, float("inf"))
#     tv11 = fd.ops.maximum(tv2, -3e30)
#     tv12 = fd.ops.broadcast(tv11, is_broadcast_dim=[False, True])
#     tv13 = fd.ops.sub(tv0, tv12)
#     tv14 = fd.ops.eq(tv0, tv12)
#     tv15 = fd.ops.exp(tv5)
#     tv16 = fd.ops.mul(tv1, tv15)
#     tv17 = fd.ops.sum(tv16, dims=[1])
#     tv18 = fd.ops.exp(tv8)
#     tv19 = fd.ops.where(tv9, 1.0, tv18)
#     tv20 = fd.ops.sum(tv19, dims=[1])
#     tv21 = fd.ops.ne(tv20, 1.0)
#     tv22 = fd.ops.logical_and(tv10, tv21)
#     tv23 = fd.ops.mul(tv1, tv19)
#     tv24 = fd.ops.sum(tv23, dims=[1])
#     tv25 = fd.ops.where(tv22, float("nan"), tv24)
#     tv26 = fd.ops.exp(tv13)
#     tv27 = fd.ops.where(tv14, 1.0, tv26)
#     tv28 = fd.ops.mul(tv1, tv27)
#     tv29 = fd.ops.sum(tv28, dims=[1])
#     fd.add_output(tv17)
#     fd.add_output(tv25)
#     fd.add_output(tv29)
