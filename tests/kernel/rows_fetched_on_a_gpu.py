# test: target=sm_90
# schedule: lanes 128 warps 32; block x0 by 12; inner x1; lane x1; width 8; private; ring 3 fetch
# Rows are copied to a ring of three in scratch while those before are folded; the weight is loaded once.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.BFloat16)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    size = fd.ops.shape(x)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    scale = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=size, broadcast_dims=[1])
    total = fd.ops.sum(fd.ops.mul(wide, scale), dims=[1], keepdim=True)
    fd.add_output(fd.ops.cast(fd.ops.mul(wide, total), dtype=DataType.BFloat16))
    fd.add_output(fd.ops.sum(wide, dims=[0]))

inputs = [
    torch.randn((8192, 1024), dtype=torch.bfloat16),
    torch.randn((1024,), dtype=torch.bfloat16),
]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 128 warps 32 {
#   symbols block, i0, i1, x1, x0, x1_1, x1_2, x1_3, x0_slot, x1_1_1, x1_1_2, x1_1_3, next_slot, x1_1_4
#   blocks block in 0 .. ((i0 + 11) // 12)
#   assume i1 % 64 == 0
#   assume i1 <= 1024
#   read b0: bf16 n0 align 16
#   read b1: bf16 n1 align 16
#   write b2: bf16 n12 align 16
#   write b3: f32 n13_partial0 align 16
#   private w0: f32[i1]
#   private w1: bf16[3*i1]
#   private w2: bf16[i1]
#   v0: f32 = const 0.0
#   for x1 in 0 .. i1 lanes by 8 {
#     store w0[x1] = v0
#   }
#   v1: f64 = const 0.0
#   for x1_1_1 in 0 .. i1 lanes by 8 {
#     v20: bf16 = load b1[x1_1_1]
#     store w2[x1_1_1] = v20
#   }
#   for x1_1_2 in 0 .. i1 lanes by 8 {
#     fetch w1[x1_1_2] = b0[12*block*i1 + x1_1_2]
#   }
#   await 2
#   for x1_1_3 in 0 .. i1 lanes by 8 {
#     fetch w1[i1 + x1_1_3] = b0[i1*min(min(i0, 12*block + 12) - 1, 12*block + 1) + x1_1_3]
#   }
#   await 2
#   for x0 in 12*block .. min(i0, 12*block + 12) {
#     v21: i64 = index (x0 % 3)
#     bind x0_slot = v21
#     v22: i64 = index ((x0 + 2) % 3)
#     bind next_slot = v22
#     for x1_1_4 in 0 .. i1 lanes by 8 {
#       fetch w1[i1*next_slot + x1_1_4] = b0[i1*min(min(i0, 12*block + 12) - 1, x0 + 2) + x1_1_4]
#     }
#     await 2
#     acc a0: f64 = v1
#     acc a1: f32 = v0
#     for x1_1 in 0 .. i1 lanes by 8 {
#       v2: bf16 = load w1[i1*x0_slot + x1_1]
#       v3: f32 = cast v2
#       v4: bf16 = load w2[x1_1]
#       v5: f32 = cast v4
#       v6: f32 = mul v3, v5
#       v7: f32 = get a1
#       v8: f32 = add v7, v6
#       set a1 = v8
#       v9: f32 = load w0[x1_1]
#       v10: f32 = add v9, v3
#       store w0[x1_1] = v10
#     }
#     v11: f32 = reduce sum a1
#     v12: f64 = cast v11
#     set a0 = v12
#     v13: f64 = get a0
#     v14: f32 = cast v13
#     for x1_2 in 0 .. i1 lanes by 8 {
#       v15: bf16 = load w1[i1*x0_slot + x1_2]
#       v16: f32 = cast v15
#       v17: f32 = mul v16, v14
#       v18: bf16 = cast v17
#       store b2[i1*x0 + x1_2] = v18
#     }
#   }
#   await 0
#   for x1_3 in 0 .. i1 lanes by 8 {
#     v19: f32 = load w0[x1_3]
#     store b3[block*i1 + x1_3] = v19
#   }
# }
#
# kernel seg0_combine0(i0, i1) lanes 128 warps 32 {
#   symbols block, i0, i1, result, chunk
#   blocks block in 0 .. ((i1 + 255) // 256)
#   read b0: f32 n13_partial0
#   write b1: f32 n13
#   v0: f64 = const 0.0
#   for result in 256*block .. min(i1, 256*block + 256) lanes {
#     acc a0: f64 = v0
#     for chunk in 0 .. ((i0 + 11) // 12) {
#       v1: f64 = get a0
#       v2: f32 = load b0[i1*chunk + result]
#       v3: f64 = cast v2
#       v4: f64 = add v1, v3
#       set a0 = v4
#     }
#     v5: f64 = get a0
#     v6: f32 = cast v5
#     store b1[result] = v6
#   }
# }
