def silu_mul(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    z = fd.ops.mul(fd.ops.silu(fd.ops.cast(x, dtype=DataType.Float)), y)
    fd.add_output(fd.ops.cast(z, dtype=DataType.BFloat16))

inputs = [torch.randn((64, 512), dtype=torch.bfloat16), torch.randn((64, 512), dtype=torch.bfloat16)]

# ---- expect
# # seg0
# kernel seg0(i0, i1) lanes 16 {
#   symbols block, i0, i1, x1
#   blocks block in 0 .. ((i0*i1 + 16383) // 16384)
#   read b0: bf16 n0
#   read b1: bf16 n1
#   write b2: bf16 n18
#   v2: f32 = const 1.0
#   v3: f32 = const -1.442695
#   for x1 in 16384*block .. min(16384*block + 16384, i0*i1) lanes {
#     v0: bf16 = load b0[x1]
#     v1: f32 = cast v0
#     v4: f32 = mul v1, v3
#     v5: f32 = exp2_bf16_addend v4
#     v6: f32 = add v2, v5
#     v7: f32 = reciprocal_half v6
#     v8: f32 = mul v1, v7
#     v9: bf16 = load b1[x1]
#     v10: f32 = cast v9
#     v11: f32 = mul v8, v10
#     v12: bf16 = cast v11
#     prefetch b0[x1 + 1024]
#     prefetch b1[x1 + 1024]
#     store b2[x1] = v12
#   }
# }
