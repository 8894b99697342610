def embedding(fd):
    table = fd.define_tensor(shape=[-1, 64], contiguity=True, dtype=DataType.BFloat16)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.embedding_fwd(index, table))

inputs = [torch.randn((1000, 64), dtype=torch.bfloat16), torch.randint(0, 1000, (700,))]

# ---- expect
# # seg0
# kernel seg0(i1, i0) lanes 16 {
#   symbols block, i1, x0, x2, i0, n4_at
#   blocks block in 0 .. ((i1 + 255) // 256)
#   read b0: i64 n1
#   faults b1: i64 faults
#   read b2: bf16 n0
#   write b3: bf16 n5
#   v1: i64 = const 0
#   v2: i64 = index i0
#   for x0 in 256*block .. min(i1, 256*block + 256) {
#     v0: i64 = load b0[x0]
#     v3: bool = ge v0, v1
#     v4: bool = lt v0, v2
#     v5: bool = logical_and v3, v4
#     v6: bool = logical_not v5
#     v7: i64 = cast v3
#     v8: i64 = sub v0, v7
#     fault b1[0] = v8 if v6
#     v9: i64 = where v5, v0, v1
#     bind n4_at = v9
#     for x2 in 0 .. 64 exact {
#       v10: bf16 = load b2[x2 + 64*n4_at] if v5
#       store b3[64*x0 + x2] = v10
#     }
#   }
# }
