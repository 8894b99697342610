# In each subrange a cat is one of its operands, also behind the shifts of the other roll.
def f(fd):
    x = fd.define_tensor(shape=[-1, 64], contiguity=True)
    rows = fd.ops.size(x, 0)
    y = x + fd.ops.cat([fd.ops.slice(x, [0, 1], [rows, 64]), fd.ops.slice(x, [0, 0], [rows, 1])], dim=1)
    z = y + fd.ops.cat([fd.ops.slice(y, [0, 2], [rows, 64]), fd.ops.slice(y, [0, 0], [rows, 2])], dim=1)
    fd.add_output(z)

inputs = [torch.randn((40, 64))]

# ---- expect
# # seg0
# kernel seg0(i0) lanes 16 {
#   symbols block, i0, x0, x1, x1_1, x1_2, x1_3
#   blocks block in 0 .. ((i0 + 255) // 256)
#   read b0: f32 n0
#   write b1: f32 n9
#   for x0 in 256*block .. min(i0, 256*block + 256) {
#     for x1 in 0 .. 61 lanes {
#       v0: f32 = load b0[64*x0 + x1]
#       v1: f32 = load b0[64*x0 + x1 + 1]
#       v2: f32 = add v0, v1
#       v3: f32 = load b0[64*x0 + x1 + 2]
#       v4: f32 = load b0[64*x0 + x1 + 3]
#       v5: f32 = add v3, v4
#       v6: f32 = add v2, v5
#       prefetch b0[64*x0 + x1 + 512]
#       prefetch b0[64*x0 + x1 + 513]
#       prefetch b0[64*x0 + x1 + 514]
#       prefetch b0[64*x0 + x1 + 515]
#       store b1[64*x0 + x1] = v6
#     }
#     v11: f32 = load b0[64*x0]
#     for x1_1 in 61 .. 62 lanes {
#       v7: f32 = load b0[64*x0 + x1_1]
#       v8: f32 = load b0[64*x0 + x1_1 + 1]
#       v9: f32 = add v7, v8
#       v10: f32 = load b0[64*x0 + x1_1 + 2]
#       v12: f32 = add v10, v11
#       v13: f32 = add v9, v12
#       prefetch b0[64*x0 + x1_1 + 512]
#       prefetch b0[64*x0 + x1_1 + 513]
#       prefetch b0[64*x0 + x1_1 + 514]
#       store b1[64*x0 + x1_1] = v13
#     }
#     for x1_2 in 62 .. 63 lanes {
#       v14: f32 = load b0[64*x0 + x1_2]
#       v15: f32 = load b0[64*x0 + x1_2 + 1]
#       v16: f32 = add v14, v15
#       v17: f32 = load b0[64*x0 + x1_2 - 62]
#       v18: f32 = load b0[64*x0 + x1_2 - 61]
#       v19: f32 = add v17, v18
#       v20: f32 = add v16, v19
#       prefetch b0[64*x0 + x1_2 + 512]
#       prefetch b0[64*x0 + x1_2 + 513]
#       prefetch b0[64*x0 + x1_2 + 450]
#       prefetch b0[64*x0 + x1_2 + 451]
#       store b1[64*x0 + x1_2] = v20
#     }
#     for x1_3 in 63 .. 64 lanes {
#       v21: f32 = load b0[64*x0 + x1_3]
#       v22: f32 = add v21, v11
#       v23: f32 = load b0[64*x0 + x1_3 - 62]
#       v24: f32 = load b0[64*x0 + x1_3 - 61]
#       v25: f32 = add v23, v24
#       v26: f32 = add v22, v25
#       prefetch b0[64*x0 + x1_3 + 512]
#       prefetch b0[64*x0 + x1_3 + 450]
#       prefetch b0[64*x0 + x1_3 + 451]
#       store b1[64*x0 + x1_3] = v26
#     }
#   }
# }
