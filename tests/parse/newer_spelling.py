# nvFuser's newer printer: tv and c names.
def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[-1, 1, 7], contiguity=[True, None, True], dtype=DataType.Half, is_cpu=False)
    c0 = fd.define_scalar(None, dtype=DataType.Double)
    tv1 = fd.ops.mul(tv0, c0)
    tv2 = fd.ops.sum(tv1, dims=[0, 2], keepdim=True, dtype=DataType.Float)
    fd.add_output(tv2)

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, 1, 7], contiguity=[True, None, True], dtype=DataType.Half, is_cpu=False)
#     c0 = fd.define_scalar(None, dtype=DataType.Double)
#     tv1 = fd.ops.mul(tv0, c0)
#     tv2 = fd.ops.sum(tv1, dims=[0, 2], keepdim=True, dtype=DataType.Float)
#     fd.add_output(tv2)
