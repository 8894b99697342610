# An axis of which a part of size 1 is taken, and dropped: the fold behind it is wanted at its index 0, wherever loops stand.
def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[1, -1, -1, 1], contiguity=[None, False, False, None], dtype=DataType.Float, is_cpu=False)
    tv1, tv2, tv3 = fd.ops.welford(tv0, dims=[1, 3])
    tv4 = fd.ops.slice(tv3, start_indices=[0, 0], end_indices=[1, 1])
    tv5 = fd.ops.argmax(tv4, dim=0)
    tv6 = fd.ops.select(tv5, index=0, dim=0)
    tv7 = fd.ops.addcmul(tv6, -0.828125, tv0, tv6)
    fd.add_output(tv7)

inputs = [
    torch.randn((1, 1, 1, 1,), dtype=torch.float32),
]

# ---- expect
# f32[1, 1, 1, 1] = 0.0
