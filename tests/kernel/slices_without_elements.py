# Of a slice that begins where its axis ends nothing is read, though no loop that runs may be outside of what would be.
def slices_without_elements(fd):
    x = fd.define_tensor(shape=[-1, 3, -1, -1], contiguity=False, dtype=DataType.Float)
    transposed = fd.ops.permute(x, dims=[2, 0, 1, 3])
    count = fd.ops.size(transposed, dim=1)
    width = fd.ops.size(transposed, dim=3)
    nothing = fd.ops.slice(transposed, start_indices=[2, 3, 0, 2], end_indices=[2, count, 3, width])
    rest = fd.ops.size(nothing, dim=3)
    flat = fd.ops.reshape(nothing, new_shape=[-1, 3, rest])
    fd.add_output(fd.ops.add(flat, 1.5))

inputs = [torch.ones(3, 3, 2, 3)]

# ---- expect
# # seg0
# kernel seg0(i2, i0) lanes 16 {
#   symbols block, i2, x4, x7, x8, i0
#   blocks block in 0 .. 0
#   write b0: f32 n8
#   v0: f32 = const 0.0
#   v1: f32 = const 1.5
#   v2: f32 = add v0, v1
#   for x4 in 16384*(block // ((i2 - min(2, i2) + 16383) // 16384)) .. min(0, 16384*(block // ((i2 - min(2, i2) + 16383) // 16384)) + 16384) {
#     for x7 in 0 .. 3 {
#       for x8 in 16384*(block % ((i2 - min(2, i2) + 16383) // 16384)) .. min(16384*(block % ((i2 - min(2, i2) + 16383) // 16384)) + 16384, i2 - min(2, i2)) lanes {
#         store b0[3*i2*x4 + i2*x7 - 3*x4*min(2, i2) - x7*min(2, i2) + x8] = v2
#       }
#     }
#   }
# }
