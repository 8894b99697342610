# Where an index map may leave a tensor, what it reads there has a guard; a weight that has an element anyway is read without one,
# and multiplied once for what is read in the middle and what is read next to it.
def weighted_neighbours(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    scale = fd.ops.exp(weight)
    scaled = fd.ops.mul(x, fd.ops.broadcast(scale, [True, False]))
    above = fd.ops.slice(fd.ops.pad(scaled, pad_widths=[0, 0, 1, 0]), [0, 0], [8, 32])
    fd.add_output(fd.ops.add(scaled, above))

inputs = [torch.randn((8, 32)), torch.randn(32)]

# ---- expect
# # seg0
# kernel seg0(i1, i0) lanes 16 {
#   symbols block, i1, i0, x1, x0
#   blocks block in 0 .. ((i0 + 511) // 512)*((i1 + 2047) // 2048)
#   read b0: f32 n0
#   read b1: f32 n1
#   write b2: f32 n8
#   v4: i64 = const 0
#   v6: i64 = index i0
#   v12: f32 = const 0.0
#   for x1 in 512*(block // ((i1 + 2047) // 2048)) .. min(512*(block // ((i1 + 2047) // 2048)) + 512, i0) {
#     v5: i64 = index x1 - 1
#     v7: bool = ge v5, v4
#     v8: bool = lt v5, v6
#     v9: bool = logical_and v7, v8
#     for x0 in 2048*(block % ((i1 + 2047) // 2048)) .. min(2048*(block % ((i1 + 2047) // 2048)) + 2048, i1) lanes {
#       v0: f32 = load b0[i1*x1 + x0]
#       v1: f32 = load b1[x0]
#       v2: f32 = exp v1
#       v3: f32 = mul v0, v2
#       v10: f32 = load b0[i1*x1 - i1 + x0] if v9
#       v11: f32 = mul v10, v2
#       v13: f32 = where v9, v11, v12
#       v14: f32 = add v3, v13
#       prefetch b0[i1*x1 + x0 + 512]
#       prefetch b0[i1*x1 - i1 + x0 + 512]
#       store b2[i1*x1 + x0] = v14
#     }
#   }
# }
