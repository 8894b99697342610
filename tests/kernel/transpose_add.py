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
#   scratch w0: f32[1024]
#   for x1_tile in 0 .. ((min(64*(block // ((i0 + 1023) // 1024)) + 64, i1) + 31) // 32) - 2*(block // ((i0 + 1023) // 1024)) {
#     for x0_tile in 0 .. ((min(1024*(block % ((i0 + 1023) // 1024)) + 1024, i0) + 31) // 32) - 32*(block % ((i0 + 1023) // 1024)) {
#       barrier
#       for x0_1 in 32*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) .. min(min(1024*(block % ((i0 + 1023) // 1024)) + 1024, 32*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) + 32), i0) {
#         for x1_1 in 32*x1_tile + 64*(block // ((i0 + 1023) // 1024)) .. min(min(64*(block // ((i0 + 1023) // 1024)) + 64, 32*x1_tile + 64*(block // ((i0 + 1023) // 1024)) + 32), i1) lanes {
#           v0: f32 = load b0[i1*x0_1 + x1_1]
#           store w0[-32*x1_tile - 1024*x0_tile + 32*x0_1 + x1_1 - 64*(block // ((i0 + 1023) // 1024)) - 32768*(block % ((i0 + 1023) // 1024))] = v0
#         }
#       }
#       barrier
#       transpose w0 by 32
#       barrier
#       for x1 in 32*x1_tile + 64*(block // ((i0 + 1023) // 1024)) .. min(min(64*(block // ((i0 + 1023) // 1024)) + 64, 32*x1_tile + 64*(block // ((i0 + 1023) // 1024)) + 32), i1) {
#         for x0 in 32*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) .. min(min(1024*(block % ((i0 + 1023) // 1024)) + 1024, 32*x0_tile + 1024*(block % ((i0 + 1023) // 1024)) + 32), i0) lanes {
#           v1: f32 = load w0[-1024*x1_tile - 32*x0_tile + 32*x1 + x0 - 2048*(block // ((i0 + 1023) // 1024)) - 1024*(block % ((i0 + 1023) // 1024))]
#           v2: f32 = load b1[i0*x1 + x0]
#           v3: f32 = add v1, v2
#           store b2[i0*x1 + x0] = v3
#         }
#       }
#     }
#   }
# }
