# A border is a choice by the index.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.pad(x, [2, 3], 1.0))

inputs = [torch.randn((100,))]

# ---- expect
# # seg0
# kernel seg0(i0) lanes 16 {
#   symbols block, i0, x1
#   blocks block in 0 .. ((i0 + 4) // 16384) + 1
#   read b0: f32 n0
#   write b1: f32 n2
#   v0: i64 = const 0
#   v2: i64 = index i0
#   v7: f32 = const 1.0
#   for x1 in 16384*block .. min(i0 + 5, 16384*block + 16384) lanes {
#     v1: i64 = index x1 - 2
#     v3: bool = ge v1, v0
#     v4: bool = lt v1, v2
#     v5: bool = logical_and v3, v4
#     v6: f32 = load b0[x1 - 2] if v5
#     v8: f32 = where v5, v6, v7
#     store b1[x1] = v8
#   }
# }
