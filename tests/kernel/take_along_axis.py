# The source is recomputed at the index.
def take_along_axis(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.take_along_axis(fd.ops.mul(x, 2.0), index, dim=1))

inputs = [torch.randn((500, 300)), torch.randint(0, 300, (500, 20), dtype=torch.int32)]

# ---- expect
# # seg0
# kernel seg0(i3, i0, i1) lanes 16 {
#   symbols block, i3, i0, x0, x2, i1, n4_at
#   blocks block in 0 .. ((i0 + 819) // 820)*((i3 + 1023) // 1024)
#   read b0: i32 n1
#   faults b1: i64 faults
#   read b2: f32 n0
#   write b3: f32 n4
#   v2: i64 = const 0
#   v3: i64 = index i1
#   v12: f32 = const 2.0
#   for x0 in 820*(block // ((i3 + 1023) // 1024)) .. min(820*(block // ((i3 + 1023) // 1024)) + 820, i0) {
#     for x2 in 1024*(block % ((i3 + 1023) // 1024)) .. min(1024*(block % ((i3 + 1023) // 1024)) + 1024, i3) lanes {
#       v0: i32 = load b0[i3*x0 + x2]
#       v1: i64 = cast v0
#       v4: bool = ge v1, v2
#       v5: bool = lt v1, v3
#       v6: bool = logical_and v4, v5
#       v7: bool = logical_not v6
#       v8: i64 = cast v4
#       v9: i64 = sub v1, v8
#       fault b1[0] = v9 if v7
#       v10: i64 = where v6, v1, v2
#       bind n4_at = v10
#       v11: f32 = load b2[x0*i1 + n4_at] if v6
#       v13: f32 = mul v11, v12
#       store b3[i3*x0 + x2] = v13
#     }
#   }
# }
