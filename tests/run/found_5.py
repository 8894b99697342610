# seed 5, choices Random(2)
# Error: interpreter: seg0: the kernel does not verify:
# in `kernel seg0`: kernels hold complex numbers as their parts
def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[0], contiguity=[False], dtype=DataType.Float, is_cpu=False)
    tv1 = fd.ops.sum(tv0, dims=[0], keepdim=True)
    tv2 = fd.ops.complex(tv1, tv0)
    fd.add_output(tv2)

inputs = [
    torch.randn((0,), dtype=torch.float32),  # Normal, Placement { order: [], steps: [], offset: 0 }
]
# segment seg0 -> n3
# seg0:
#   schedule lanes 4
#   inner x0
#   lane x0
#   carry n3
#   carry n2
