# A border is a choice by the index.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.pad(x, [2, 3], 1.0))

inputs = [torch.randn((100,))]

# ---- expect
# # seg0
# kernel seg0(i0) lanes 16 {
#   symbols block, i0, x1, x1_1, x1_2
#   blocks block in 0 .. ((i0 + 4) // 16384) + 1
#   write b0: f32 n2
#   read b1: f32 n0
#   v0: f32 = const 1.0
#   for x1 in max(0, 16384*block) .. min(min(2, i0 + 5), 16384*block + 16384) lanes {
#     store b0[x1] = v0
#   }
#   for x1_1 in max(2, 16384*block) .. min(i0 + 2, 16384*block + 16384) lanes {
#     v1: f32 = load b1[x1_1 - 2]
#     store b0[x1_1] = v1
#   }
#   for x1_2 in max(i0 + 2, 16384*block) .. min(i0 + 5, 16384*block + 16384) lanes {
#     store b0[x1_2] = v0
#   }
# }
