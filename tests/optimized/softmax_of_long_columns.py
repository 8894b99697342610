# The maximum and the sum are one fold, whose exponentials are of numbers that are not positive.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    powers = fd.ops.exp(fd.ops.sub(wide, fd.ops.max(wide, dims=[0], keepdim=True)))
    y = fd.ops.div(powers, fd.ops.sum(powers, dims=[0], keepdim=True))
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))

inputs = [torch.randn((16384, 2048), dtype=torch.bfloat16)]

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.BFloat16, is_cpu=False)
#     tv1 = fd.ops.cast(tv0, dtype=DataType.Float)
#     tv2 = fd.ops.full(shape=[1, 1], fill_value=1.0, dtype=DataType.Double)
#     c0 = fd.ops.size(tv0, dim=0)
#     c1 = fd.ops.size(tv0, dim=1)
#     tv3 = fd.ops.expand(tv2, shape=[c0, c1])
#     tv4, tv5 = fd.ops.fold([tv1, tv3], combine=lambda a0, a1, b0, b1: [fd.ops.maximum(a0, b0), fd.ops.add(fd.ops.mul(a1, fd.ops.cast(fd.ops.exp(fd.ops.sub(a0, fd.ops.maximum(a0, b0))), DataType.Double)), fd.ops.mul(b1, fd.ops.cast(fd.ops.exp2(fd.ops.mul(fd.ops.sub(b0, fd.ops.maximum(a0, b0)), fd.ops.cast(1.4426950216293335, DataType.Float))), DataType.Double)))], init=[-3.4028234663852886e38, 0.0], dims=[0])
#     tv6 = fd.ops.eq(tv5, 0.0)
#     tv7 = fd.ops.where(tv6, float("-inf"), tv4)
#     c2 = fd.ops.eq(c0, 0)
#     c3 = fd.define_scalar(0.0, dtype=DataType.Float)
#     c4 = fd.define_scalar(float("nan"), dtype=DataType.Float)
#     c5 = fd.ops.where(c2, c3, c4)
#     tv8 = fd.ops.cast(tv5, dtype=DataType.Float)
#     tv9 = fd.ops.where(tv6, c5, tv8)
#     tv10 = fd.ops.segment_set(tv7)
#     tv11 = fd.ops.reciprocal(tv9)
#     tv12 = fd.ops.segment_set(tv11)
#     tv13 = fd.ops.broadcast(tv10, is_broadcast_dim=[True, False])
#     tv14 = fd.ops.sub(tv1, tv13)
#     tv15 = fd.ops.mul(tv14, 1.442695)
#     tv16 = fd.ops.exp2(tv15)
#     tv17 = fd.ops.broadcast(tv12, is_broadcast_dim=[True, False])
#     tv18 = fd.ops.mul(tv16, tv17)
#     tv19 = fd.ops.cast(tv18, dtype=DataType.BFloat16)
#     fd.add_output(tv19)
