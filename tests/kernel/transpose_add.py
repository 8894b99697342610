def transpose_add(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.permute(x, dims=[1, 0]), y))

inputs = [torch.randn((300, 200)), torch.randn((200, 300))]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 16 {
#   symbols block, i0, i1, x1_tile, x1_limit, x1_begin, x1_end, x0_tile, x0_limit, x0_begin, x0_end, x1, x0, x0_1, x1_1
#   blocks block in 0 .. ((i1 + 63) // 64)*((i0 + 1023) // 1024)
#   read b0: f32 n0
#   read b1: f32 n1
#   write b2: f32 n3
#   scratch w0: f32[4096]
#   v0: i64 = index min(64*(block // ((i0 + 1023) // 1024)) + 64, i1)
#   bind x1_limit = v0
#   v3: i64 = index min(1024*(block % ((i0 + 1023) // 1024)) + 1024, i0)
#   bind x0_limit = v3
#   for x1_tile in 0 .. ((min(64*(block // ((i0 + 1023) // 1024)) + 64, i1) + 63) // 64) - (block // ((i0 + 1023) // 1024)) {
#     v1: i64 = index 64*x1_tile + 64*(block // ((i0 + 1023) // 1024))
#     bind x1_begin = v1
#     v2: i64 = index min(x1_begin + 64, x1_limit)
#     bind x1_end = v2
#     for x0_tile in 0 .. ((min(1024*(block % ((i0 + 1023) // 1024)) + 1024, i0) + 63) // 64) - 16*(block % ((i0 + 1023) // 1024)) {
#       v4: i64 = index 64*x0_tile + 1024*(block % ((i0 + 1023) // 1024))
#       bind x0_begin = v4
#       v5: i64 = index min(x0_begin + 64, x0_limit)
#       bind x0_end = v5
#       barrier
#       for x0_1 in x0_begin .. x0_end transpose {
#         for x1_1 in x1_begin .. x1_end lanes {
#           v6: f32 = load b0[i1*x0_1 + x1_1]
#           store w0[-64*x1_begin - x0_begin + x0_1 + 64*x1_1] = v6
#         }
#       }
#       barrier
#       for x1 in x1_begin .. x1_end {
#         for x0 in x0_begin .. x0_end lanes {
#           prefetch b0[i1*min(x0_limit - 1, -x1_begin + x0_begin + x1 + 64) + x1_begin - x0_begin + x0] L2
#           v7: f32 = load w0[-64*x1_begin - x0_begin + 64*x1 + x0]
#           prefetch b1[i0*min(x1 + 8, x1_end - 1) + x0] L2
#           v8: f32 = load b1[i0*x1 + x0]
#           v9: f32 = add v7, v8
#           store b2[i0*x1 + x0] = v9
#         }
#       }
#     }
#   }
# }
