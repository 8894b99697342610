# seed 110, choices Random(0)
# Error: interpreter: seg0: the kernel does not verify:
# in `kernel seg0`: kernels hold complex numbers as their parts
def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[0, 0], contiguity=[False, False], dtype=DataType.Float, is_cpu=False)
    tv1 = fd.define_tensor(shape=[0, 0, 0], contiguity=[False, False, False], dtype=DataType.Float, is_cpu=False)
    tv2 = fd.ops.complex(tv0, tv1)
    fd.add_output(tv2)

inputs = [
    torch.randn((0, 0,), dtype=torch.float32),  # Normal, Placement { order: [], steps: [], offset: 0 }
    torch.randn((0, 0, 0,), dtype=torch.float32),  # Normal, Placement { order: [], steps: [], offset: 0 }
]
# segment seg0 -> n2, n3
# seg0:
#   schedule lanes 32
#   fuse x1 x0
#   row x0
#   inner x2
#   lane x2
#   carry n3
