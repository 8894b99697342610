def scale(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.mul(x, 2.0))

inputs = [torch.randn((1000,))]

# ---- expect
# # seg0
# kernel seg0(i0) lanes 16 {
#   symbols block, i0, x0
#   blocks block in 0 .. ((i0 + 16383) // 16384)
#   read b0: f32 n0
#   write b1: f32 n2
#   v1: f32 = const 2.0
#   for x0 in 16384*block .. min(i0, 16384*block + 16384) lanes {
#     v0: f32 = load b0[x0]
#     v2: f32 = mul v0, v1
#     store b1[x0] = v2
#   }
# }
