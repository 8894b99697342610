def transpose_add(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.permute(x, dims=[1, 0]), y))

inputs = [torch.randn((300, 200)), torch.randn((200, 300))]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 16 {
#   symbols block, i0, i1, x1, x0
#   blocks block in 0 .. ((i1 + 54) // 55)*((i0 + 1023) // 1024)
#   read b0: f32 n0
#   read b1: f32 n1
#   write b2: f32 n3
#   for x1 in 55*(block // ((i0 + 1023) // 1024)) .. min(55*(block // ((i0 + 1023) // 1024)) + 55, i1) {
#     for x0 in 1024*(block % ((i0 + 1023) // 1024)) .. min(1024*(block % ((i0 + 1023) // 1024)) + 1024, i0) lanes {
#       v0: f32 = load b0[i1*x0 + x1]
#       v1: f32 = load b1[i0*x1 + x0]
#       v2: f32 = add v0, v1
#       store b2[i0*x1 + x0] = v2
#     }
#   }
# }
