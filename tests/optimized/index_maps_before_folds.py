# test: target=avx512
# The pass that moves index maps before folds: a padded norm is the norm of what is padded, with the fill around it.
def index_maps_before_folds(fd):
    x = fd.define_tensor(shape=[4096, 256], contiguity=True, dtype=DataType.Float)
    largest = fd.ops.max(fd.ops.abs(x), dims=[1], keepdim=True)
    fd.add_output(fd.ops.pad(fd.ops.div(x, largest), [0, 0, 2, 1], -1.0))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[4096, 256], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.ops.abs(tv0)
#     tv2 = fd.ops.pad(tv0, pad_widths=[0, 0, 2, 1], value=0.0)
#     tv3 = fd.ops.pad(tv1, pad_widths=[0, 0, 2, 1], value=0.0)
#     tv4 = fd.ops.max(tv3, dims=[1])
#     tv5 = fd.ops.broadcast(tv4, is_broadcast_dim=[False, True])
#     tv6 = fd.ops.div(tv2, tv5)
#     tv7 = fd.ops.full(shape=[1, 1], fill_value=True, dtype=DataType.Bool)
#     tv8 = fd.ops.expand(tv7, shape=[4096, 1])
#     tv9 = fd.ops.pad(tv8, pad_widths=[0, 0, 2, 1], value=False)
#     tv10 = fd.ops.where(tv9, tv6, -1.0)
#     fd.add_output(tv10)
