# A flip: the indices are counted, so that none is read or checked.
def flip(fd):
    x = fd.define_tensor(shape=[-1, 4096], contiguity=True, dtype=DataType.Float)
    flipped = fd.ops.index_select(x, fd.ops.iota(4096, 4095, -1), dim=1)
    fd.add_output(fd.ops.add(x, flipped))

# ---- expect
# # seg0
# kernel seg0(i0) lanes 16 {
#   symbols block, i0, x2, x1
#   blocks block in 0 .. ((i0 + 3) // 4)
#   read b0: f32 n0
#   write b1: f32 n6
#   for x2 in 4*block .. min(i0, 4*block + 4) {
#     for x1 in 0 .. 4096 exact {
#       v0: f32 = load b0[4096*x2 + x1]
#       v1: f32 = load b0[4096*x2 - x1 + 4095]
#       v2: f32 = add v0, v1
#       store b1[4096*x2 + x1] = v2
#     }
#   }
# }
