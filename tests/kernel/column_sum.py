def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 512))]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 32 {
#   symbols block, i0, i1, x1, x0, x1_1, x1_2
#   blocks block in 0 .. ((i1 + 1023) // 1024)*((i0 + 63) // 64)
#   read b0: f32 n0
#   write b1: f32 n1_partial0
#   scratch w0: f32[min(1024, i1)]
#   v0: f32 = const 0.0
#   for x1 in 1024*(block // ((i0 + 63) // 64)) .. min(1024*(block // ((i0 + 63) // 64)) + 1024, i1) lanes {
#     store w0[x1 - 1024*(block // ((i0 + 63) // 64))] = v0
#   }
#   barrier
#   for x0 in 64*(block % ((i0 + 63) // 64)) .. min(64*(block % ((i0 + 63) // 64)) + 64, i0) {
#     for x1_1 in 1024*(block // ((i0 + 63) // 64)) .. min(1024*(block // ((i0 + 63) // 64)) + 1024, i1) lanes {
#       v1: f32 = load b0[i1*x0 + x1_1]
#       v2: f32 = load w0[x1_1 - 1024*(block // ((i0 + 63) // 64))]
#       v3: f32 = add v2, v1
#       store w0[x1_1 - 1024*(block // ((i0 + 63) // 64))] = v3
#     }
#   }
#   barrier
#   for x1_2 in 1024*(block // ((i0 + 63) // 64)) .. min(1024*(block // ((i0 + 63) // 64)) + 1024, i1) lanes {
#     v4: f32 = load w0[x1_2 - 1024*(block // ((i0 + 63) // 64))]
#     store b1[i1*(block % ((i0 + 63) // 64)) + x1_2] = v4
#   }
# }
#
# kernel seg0_combine0(i0, i1) lanes 32 {
#   symbols block, i0, i1, result, chunk
#   blocks block in 0 .. ((i1 + 255) // 256)
#   read b0: f32 n1_partial0
#   write b1: f32 n1
#   v0: f64 = const 0.0
#   for result in 256*block .. min(i1, 256*block + 256) lanes {
#     acc a0: f64 = v0
#     for chunk in 0 .. ((i0 + 63) // 64) {
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
