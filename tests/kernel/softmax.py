def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 32 {
#   symbols block, i0, x0, i1, x1, x1_block, x1_1, lane, x1_2
#   blocks block in 0 .. ((i0 + 15) // 16)
#   read b0: f32 n0
#   write b1: f32 n11
#   scratch w0: f32[i1]
#   v0: f32 = const -inf
#   v5: f64 = const 0.0
#   v6: f32 = const 0.0
#   for x0 in 16*block .. min(i0, 16*block + 16) {
#     acc a0: f32 = v0
#     for x1 in 0 .. i1 lanes {
#       v1: f32 = load b0[x0*i1 + x1]
#       v2: f32 = get a0
#       v3: f32 = maximum v2, v1
#       set a0 = v3
#     }
#     v4: f32 = reduce max a0
#     acc a1: f64 = v5
#     barrier
#     for x1_block in 0 .. ((i1 + 511) // 512) {
#       acc a2: f32 = v6
#       for x1_1 in 512*x1_block .. 512*x1_block + min(512, i1 - 512*x1_block) lanes {
#         v7: f32 = load b0[x0*i1 + x1_1]
#         v8: f32 = sub v7, v4
#         v9: f32 = exp_nonpositive v8
#         v10: f32 = get a2
#         v11: f32 = add v10, v9
#         set a2 = v11
#         store w0[x1_1] = v9
#         prefetch b0[x0*i1 + i1 + x1_1] L2
#       }
#       for lane in 0 .. 32 exact {
#         v12: f32 = get a2
#         v13: f64 = get a1
#         v14: f64 = cast v12
#         v15: f64 = add v13, v14
#         set a1 = v15
#       }
#     }
#     barrier
#     v16: f64 = reduce sum a1
#     v17: f32 = cast v16
#     for x1_2 in 0 .. i1 lanes {
#       v18: f32 = load w0[x1_2]
#       v19: f32 = div v18, v17
#       store b1[x0*i1 + x1_2] = v19
#     }
#   }
# }
