# Composites stand as the user wrote them, with axes counted from the front.
def f(fd):
    x = fd.define_tensor(shape=[-1, 32], contiguity=True, dtype=DataType.BFloat16)
    w = fd.define_tensor(shape=[32], contiguity=True, dtype=DataType.BFloat16)
    fd.add_output(fd.ops.softmax(fd.ops.gelu(x), dim=-1))
    fd.add_output(fd.ops.rms_norm(x, normalized_shape=[32], weight=w))
    fd.add_output(fd.ops.silu(x))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, 32], contiguity=[True, True], dtype=DataType.BFloat16, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[32], contiguity=[True], dtype=DataType.BFloat16, is_cpu=False)
#     tv2 = fd.ops.gelu(tv0)
#     tv3 = fd.ops.softmax(tv2, dim=1)
#     fd.add_output(tv3)
#     tv4 = fd.ops.rms_norm(tv0, normalized_shape=[32], weight=tv1)
#     fd.add_output(tv4)
#     tv5 = fd.ops.silu(tv0)
#     fd.add_output(tv5)
