# test: target=avx512
# Composites stand as they were written, though passes put cheaper forms in them, and a kernel multiplies for the first.
def linear_and_softmax(fd):
    x = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.BFloat16)
    shallow = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.BFloat16)
    deep = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    with fd.group("head"):
        hidden = fd.ops.silu(fd.ops.linear(x, shallow, bias))
    logits = fd.ops.linear(hidden, deep)
    fd.add_output(fd.ops.softmax(logits, dim=-1))
    fd.add_output(fd.ops.mul(hidden, 2.0))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[-1, 8], contiguity=[True, True], dtype=DataType.BFloat16, is_cpu=False)
#     tv1 = fd.define_tensor(shape=[-1, 8], contiguity=[True, True], dtype=DataType.BFloat16, is_cpu=False)
#     tv2 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.BFloat16, is_cpu=False)
#     tv3 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.BFloat16, is_cpu=False)
#     with fd.group("head"):
#         tv4 = fd.ops.linear(tv0, tv1, bias=tv3)
#         tv5 = fd.ops.silu(tv4)
#     tv6 = fd.ops.linear(tv5, tv2)
#     tv7 = fd.ops.softmax(tv6, dim=1)
#     tv8 = fd.ops.cast(tv5, dtype=DataType.Float)
#     tv9 = fd.ops.mul(tv8, 2.0)
#     fd.add_output(tv7)
#     fd.add_output(tv9)
