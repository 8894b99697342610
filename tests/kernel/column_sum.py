def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 512))]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 16 {
#   symbols block, i0, i1, x1, x0_jam, x1_1, x0, x1_2, x1_3
#   blocks block in 0 .. ((i1 + 1023) // 1024)*((i0 + 63) // 64)
#   read b0: f32 n0
#   write b1: f32 n1_partial0
#   scratch w0: f32[min(1024, i1)]
#   v0: f32 = const 0.0
#   for x1 in 1024*(block // ((i0 + 63) // 64)) .. min(1024*(block // ((i0 + 63) // 64)) + 1024, i1) lanes {
#     store w0[x1 - 1024*(block // ((i0 + 63) // 64))] = v0
#   }
#   barrier
#   for x0_jam in 0 .. (min(64*(block % ((i0 + 63) // 64)) + 64, i0) // 8) - 8*(block % ((i0 + 63) // 64)) {
#     for x1_1 in 1024*(block // ((i0 + 63) // 64)) .. min(1024*(block // ((i0 + 63) // 64)) + 1024, i1) lanes {
#       v1: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + x1_1]
#       v2: f32 = load w0[x1_1 - 1024*(block // ((i0 + 63) // 64))]
#       v3: f32 = add v2, v1
#       v4: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + i1 + x1_1]
#       v5: f32 = add v3, v4
#       v6: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + 2*i1 + x1_1]
#       v7: f32 = add v5, v6
#       v8: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + 3*i1 + x1_1]
#       v9: f32 = add v7, v8
#       v10: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + 4*i1 + x1_1]
#       v11: f32 = add v9, v10
#       v12: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + 5*i1 + x1_1]
#       v13: f32 = add v11, v12
#       v14: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + 6*i1 + x1_1]
#       v15: f32 = add v13, v14
#       v16: f32 = load b0[8*i1*x0_jam + 64*i1*(block % ((i0 + 63) // 64)) + 7*i1 + x1_1]
#       v17: f32 = add v15, v16
#       store w0[x1_1 - 1024*(block // ((i0 + 63) // 64))] = v17
#     }
#   }
#   for x0 in 8*(min(64*(block % ((i0 + 63) // 64)) + 64, i0) // 8) .. min(64*(block % ((i0 + 63) // 64)) + 64, i0) rest {
#     for x1_2 in 1024*(block // ((i0 + 63) // 64)) .. min(1024*(block // ((i0 + 63) // 64)) + 1024, i1) lanes {
#       v18: f32 = load b0[i1*x0 + x1_2]
#       v19: f32 = load w0[x1_2 - 1024*(block // ((i0 + 63) // 64))]
#       v20: f32 = add v19, v18
#       store w0[x1_2 - 1024*(block // ((i0 + 63) // 64))] = v20
#     }
#   }
#   barrier
#   for x1_3 in 1024*(block // ((i0 + 63) // 64)) .. min(1024*(block // ((i0 + 63) // 64)) + 1024, i1) lanes {
#     v21: f32 = load w0[x1_3 - 1024*(block // ((i0 + 63) // 64))]
#     store b1[i1*(block % ((i0 + 63) // 64)) + x1_3] = v21
#   }
# }
#
# kernel seg0_combine0(i0, i1) lanes 16 {
#   symbols block, i0, i1, result, chunk
#   blocks block in 0 .. ((i1 + 255) // 256)
#   read b0: f32 n1_partial0
#   write b1: f32 n1
#   v0: f32 = const 0.0
#   for result in 256*block .. min(i1, 256*block + 256) lanes {
#     acc a0: f32 = v0
#     for chunk in 0 .. ((i0 + 63) // 64) {
#       v1: f32 = get a0
#       v2: f32 = load b0[i1*chunk + result]
#       v3: f32 = add v1, v2
#       set a0 = v3
#     }
#     v4: f32 = get a0
#     store b1[result] = v4
#   }
# }
