# test: seed=1
# A sum of next to nothing rounds to a zero of either sign.
def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[128, 1, 3], contiguity=[False, None, False], dtype=DataType.Float, is_cpu=False)
    tv1 = fd.define_tensor(shape=[1], contiguity=[None], dtype=DataType.Float, is_cpu=False)
    tv2, tv3, tv4 = fd.ops.instance_norm(tv0, eps=0.125)
    tv5, tv6, tv7 = fd.ops.instance_norm_backward(tv2, arg=tv0, mean=tv3, invstd=tv4, weight=tv1)
    tv8 = fd.ops.round(tv7)
    tv9 = fd.ops.pad(tv8, pad_widths=[1, 1])
    tv10 = fd.ops.signbit(tv9)
    fd.add_output(tv10)

inputs = [
    torch.randn((128, 1, 3,), dtype=torch.float32),  # Normal, Placement { order: [], steps: [], offset: 0 }
    torch.randn((1,), dtype=torch.float32),  # Normal, Placement { order: [], steps: [], offset: 0 }
]

# ---- expect
# bool[3] = False, True, False
