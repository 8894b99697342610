# test: target=avx512
# The pass that moves expansions towards outputs leaves a softmax of fewer elements: the written one is lost, and said so.
def a_softmax_of_repeated_rows(fd):
    x = fd.define_tensor(shape=[1, -1], contiguity=True, dtype=DataType.Float)
    rows = fd.ops.expand(x, [16, -1])
    fd.add_output(fd.ops.softmax(rows, dim=1))

# ---- expect
# def nvfuser_fusion(fd : FusionDefinition) -> None :
#     tv0 = fd.define_tensor(shape=[1, -1], contiguity=[None, True], dtype=DataType.Float, is_cpu=False)
#     tv1 = fd.ops.max(tv0, dims=[1])
#     tv2 = fd.ops.broadcast(tv1, is_broadcast_dim=[False, True])
#     tv3 = fd.ops.sub(tv0, tv2)
#     tv4 = fd.ops.exp(tv3)
#     tv5 = fd.ops.sum(tv4, dims=[1])
#     tv6 = fd.ops.broadcast(tv5, is_broadcast_dim=[False, True])
#     tv7 = fd.ops.div(tv4, tv6)
#     c0 = fd.ops.size(tv0, dim=1)
#     tv8 = fd.ops.expand(tv7, shape=[16, c0])
#     fd.add_output(tv8)
# # softmax: sink_expansions computes it from something else than what it is given
