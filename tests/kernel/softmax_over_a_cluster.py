# test: target=sm_90
# Rows that a cluster of four blocks has in registers.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Float), dim=1)
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))

inputs = [torch.randn((256, 65536), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 2048 warps 32 cluster 4 {
#   symbols block, i0, x0, i1, x1, x1_1, x1_2
#   blocks block in 0 .. i0
#   assume i1 % 64 == 0
#   assume i1 <= 65536
#   read b0: bf16 n0 align 16
#   write b1: bf16 n17 align 16
#   private w0: bf16[i1]
#   private w1: f32[i1]
#   v0: f32 = const -inf
#   v6: f64 = const 0.0
#   v7: f32 = const 0.0
#   v11: f32 = const 1.442695
#   for x0 in block .. block + 1 {
#     acc a0: f32 = v0
#     for x1 in 0 .. i1 lanes by 8 {
#       v1: bf16 = load b0[x0*i1 + x1]
#       v2: f32 = cast v1
#       v3: f32 = get a0
#       v4: f32 = maximum v3, v2
#       set a0 = v4
#       store w0[x1] = v1
#     }
#     v5: f32 = reduce max a0
#     acc a1: f64 = v6
#     acc a2: f32 = v7
#     for x1_1 in 0 .. i1 lanes by 8 {
#       v8: bf16 = load w0[x1_1]
#       v9: f32 = cast v8
#       v10: f32 = sub v9, v5
#       v12: f32 = mul v10, v11
#       v13: f32 = exp2_bf16_nonpositive v12
#       v14: f32 = get a2
#       v15: f32 = add v14, v13
#       set a2 = v15
#       store w1[x1_1] = v13
#     }
#     v16: f32 = reduce sum a2
#     v17: f64 = cast v16
#     set a1 = v17
#     v18: f64 = get a1
#     v19: f32 = cast v18
#     v21: f32 = reciprocal_half v19
#     for x1_2 in 0 .. i1 lanes by 8 {
#       v20: f32 = load w1[x1_2]
#       v22: f32 = mul v20, v21
#       v23: bf16 = cast v22
#       store b1[x0*i1 + x1_2] = v23
#     }
#   }
# }
