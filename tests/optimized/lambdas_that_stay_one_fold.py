# test: target=avx512
# Lambdas that are left whole: runs begin with a maximum of -inf; NaN is no maximum; a sum is not rescaled, or by the other factor;
# sums are rescaled alike only where maxima differ; NaN beside a number leaves sums as they are.
def lambdas_that_stay_one_fold(fd):
    x = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.Float)
    t = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.Float)
    def_both = fd.ops.fold(
        [x, t],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            s * fd.ops.exp(a - fd.ops.maximum(a, b)) + t * fd.ops.exp(b - fd.ops.maximum(a, b)),
        ],
        init=[float("-inf"), 0.0],
        dims=[1],
    )
    chosen = fd.ops.fold(
        [x, t],
        lambda a, s, b, t: [
            fd.ops.where(a > b, a, b),
            fd.ops.where(a > b, s, t) + fd.ops.where(a > b, t, s) * fd.ops.exp(-fd.ops.abs(a - b)),
        ],
        init=[-1e30, 0.0],
        dims=[1],
    )
    plain = fd.ops.fold([x, t], lambda a, s, b, t: [fd.ops.maximum(a, b), s + t], init=[-1e30, 0.0], dims=[1])
    other = fd.ops.fold(
        [x, t],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            s * fd.ops.exp(b - fd.ops.maximum(a, b)) + t * fd.ops.exp(a - fd.ops.maximum(a, b)),
        ],
        init=[-1e30, 0.0],
        dims=[1],
    )
    unordered = fd.ops.fold(
        [x, t],
        lambda a, s, b, t: [
            fd.ops.maximum(a, b),
            fd.ops.where(
                a > b,
                s + t * fd.ops.exp(b - a),
                fd.ops.where(b > a, t + s * fd.ops.exp(a - b), s + t),
            ),
        ],
        init=[-1e30, 0.0],
        dims=[1],
    )
    fd.add_output(def_both[1])
    fd.add_output(chosen[1])
    fd.add_output(plain[1])
    fd.add_output(other[1])
    fd.add_output(unordered[1])

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[4096, 4096], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[4096, 4096], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv2, tv3 = fd.ops.fold([tv0, tv1], combine=lambda a0, a1, b0, b1: [fd.ops.maximum(a0, b0), fd.ops.add(fd.ops.mul(a1, fd.ops.exp(fd.ops.sub(a0, fd.ops.maximum(a0, b0)))), fd.ops.mul(b1, fd.ops.exp(fd.ops.sub(b0, fd.ops.maximum(a0, b0)))))], init=[float("-inf"), 0.0], dims=[1])
#     tv4, tv5 = fd.ops.fold([tv0, tv1], combine=lambda a0, a1, b0, b1: [fd.ops.where(fd.ops.gt(a0, b0), a0, b0), fd.ops.add(fd.ops.where(fd.ops.gt(a0, b0), a1, b1), fd.ops.mul(fd.ops.where(fd.ops.gt(a0, b0), b1, a1), fd.ops.exp(fd.ops.neg(fd.ops.abs(fd.ops.sub(a0, b0))))))], init=[-1.0000000150474662e30, 0.0], dims=[1])
#     tv6, tv7 = fd.ops.fold([tv0, tv1], combine=lambda a0, a1, b0, b1: [fd.ops.maximum(a0, b0), fd.ops.add(a1, b1)], init=[-1.0000000150474662e30, 0.0], dims=[1])
#     tv8, tv9 = fd.ops.fold([tv0, tv1], combine=lambda a0, a1, b0, b1: [fd.ops.maximum(a0, b0), fd.ops.add(fd.ops.mul(a1, fd.ops.exp(fd.ops.sub(b0, fd.ops.maximum(a0, b0)))), fd.ops.mul(b1, fd.ops.exp(fd.ops.sub(a0, fd.ops.maximum(a0, b0)))))], init=[-1.0000000150474662e30, 0.0], dims=[1])
#     tv10, tv11 = fd.ops.fold([tv0, tv1], combine=lambda a0, a1, b0, b1: [fd.ops.maximum(a0, b0), fd.ops.where(fd.ops.gt(a0, b0), fd.ops.add(a1, fd.ops.mul(b1, fd.ops.exp(fd.ops.sub(b0, a0)))), fd.ops.where(fd.ops.gt(b0, a0), fd.ops.add(b1, fd.ops.mul(a1, fd.ops.exp(fd.ops.sub(a0, b0)))), fd.ops.add(a1, b1)))], init=[-1.0000000150474662e30, 0.0], dims=[1])
#     fd.add_output(tv3)
#     fd.add_output(tv5)
#     fd.add_output(tv7)
#     fd.add_output(tv9)
#     fd.add_output(tv11)
