# test: target=sm_90
# Rows that a cluster of eight blocks has in registers.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Float), dim=1)
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))

inputs = [torch.randn((256, 65536), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 4096 warps 32 cluster 8 {
#   symbols block, i0, x0, i1, x1, x1_1, x1_2
#   blocks block in 0 .. i0
#   assume i1 % 64 == 0
#   assume i1 <= 65536
#   read b0: bf16 n0 align 16
#   write b1: bf16 n17 align 16
#   private w0: f32[i1]
#   private w1: f32[i1]
#   v0: f32 = const -inf
#   v6: f64 = const 0.0
#   v7: f32 = const 0.0
#   v10: f32 = const 1.442695
#   for x0 in block .. block + 1 {
#     acc a0: f32 = v0
#     for x1 in 0 .. i1 lanes by 8 {
#       v1: bf16 = load b0[x0*i1 + x1]
#       v2: f32 = cast v1
#       v3: f32 = get a0
#       v4: f32 = maximum v3, v2
#       set a0 = v4
#       store w0[x1] = v2
#     }
#     v5: f32 = reduce max a0
#     acc a1: f64 = v6
#     acc a2: f32 = v7
#     for x1_1 in 0 .. i1 lanes by 8 {
#       v8: f32 = load w0[x1_1]
#       v9: f32 = sub v8, v5
#       v11: f32 = mul v9, v10
#       v12: f32 = exp2_bf16 v11
#       v13: f32 = get a2
#       v14: f32 = add v13, v12
#       set a2 = v14
#       store w1[x1_1] = v12
#     }
#     v15: f32 = reduce sum a2
#     v16: f64 = cast v15
#     set a1 = v16
#     v17: f64 = get a1
#     v18: f32 = cast v17
#     v20: f32 = reciprocal_half v18
#     for x1_2 in 0 .. i1 lanes by 8 {
#       v19: f32 = load w1[x1_2]
#       v21: f32 = mul v19, v20
#       v22: bf16 = cast v21
#       store b1[x0*i1 + x1_2] = v22
#     }
#   }
# }
