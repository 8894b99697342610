def transpose_add(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.permute(x, dims=[1, 0]), y))

inputs = [torch.randn((300, 200)), torch.randn((200, 300))]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 16 {
#   symbols block, i0, i1, x1_tile, x0_tile, x1, x0, x0_1, x1_1
#   blocks block in 0 .. ((i1 + 63) // 64)*((i0 + 1023) // 1024)
#   read b0: f32 n0
#   read b1: f32 n1
#   write b2: f32 n3
#   scratch w0: f32[4096]
#   for x1_tile in 0 .. ((min(64*(block // ((i0 + 1023) // 1024)) + 64, i1) + 63) // 64) - (block // ((i0 + 1023) // 1024)) {
#     for x0_tile in 0 .. ((min(1024*(block % ((i0 + 1023) // 1024)) + 1024, i0) + 63) // 64) - 16*(block % ((i0 + 1023) // 1024)) {
#       barrier
#       for x0_1 in 64*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) .. min(min(1024*(block % ((i0 + 1023) // 1024)) + 1024, 64*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) + 64), i0) transpose {
#         for x1_1 in 64*x1_tile + 64*(block // ((i0 + 1023) // 1024)) .. min(min(64*(block // ((i0 + 1023) // 1024)) + 64, 64*x1_tile + 64*(block // ((i0 + 1023) // 1024)) + 64), i1) lanes {
#           v0: f32 = load b0[i1*x0_1 + x1_1]
#           store w0[-4096*x1_tile - 64*x0_tile + x0_1 + 64*x1_1 - 4096*(block // ((i0 + 1023) // 1024)) - 1024*(block % ((i0 + 1023) // 1024))] = v0
#         }
#       }
#       barrier
#       for x1 in 64*x1_tile + 64*(block // ((i0 + 1023) // 1024)) .. min(min(64*(block // ((i0 + 1023) // 1024)) + 64, 64*x1_tile + 64*(block // ((i0 + 1023) // 1024)) + 64), i1) {
#         for x0 in 64*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) .. min(min(1024*(block % ((i0 + 1023) // 1024)) + 1024, 64*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) + 64), i0) lanes {
#           prefetch b0[i1*min(min(1024*(block % ((i0 + 1023) // 1024)) + 1024, i0) - 1, -64*x1_tile + 64*x0_tile + x1 - 64*(block // ((i0 + 1023) // 1024)) + 1024*(block % ((i0 + 1023) // 1024)) + 64) + 64*x1_tile - 64*x0_tile + x0 + 64*(block // ((i0 + 1023) // 1024)) - 1024*(block % ((i0 + 1023) // 1024))] far
#           v1: f32 = load w0[-4096*x1_tile - 64*x0_tile + 64*x1 + x0 - 4096*(block // ((i0 + 1023) // 1024)) - 1024*(block % ((i0 + 1023) // 1024))]
#           prefetch b1[i0*min(min(min(64*(block // ((i0 + 1023) // 1024)) + 64, 64*x1_tile + 64*(block // ((i0 + 1023) // 1024)) + 64), i1) - 1, x1 + 8) + x0] far
#           v2: f32 = load b1[i0*x1 + x0]
#           v3: f32 = add v1, v2
#           store b2[i0*x1 + x0] = v3
#         }
#       }
#     }
#   }
# }
