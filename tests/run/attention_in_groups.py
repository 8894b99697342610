# Attention with two axes of batches, where the call says whether queries see only the keys up to their own number.
def attention(fd):
    query = fd.define_tensor(shape=[2, 1, 1, 2, 2], contiguity=True)
    key = fd.define_tensor(shape=[2, 1, 1, 2, 2], contiguity=True)
    is_causal = fd.define_scalar(dtype=DataType.Bool)
    sees_all = fd.define_scalar(dtype=DataType.Bool)
    result, sums, _, _ = fd.ops.sdpfa_fwd(query, key, key, is_causal=is_causal)
    fd.add_output(result)
    fd.add_output(sums)
    result, _, _, _ = fd.ops.sdpfa_fwd(query, key, key, is_causal=sees_all, scale=1.0)
    fd.add_output(result)
    grads = fd.ops.sdpfa_bwd(query, query, key, key, result, sums, 0.0, is_causal, fd.ops.full([], 0, DataType.Int),
                             fd.ops.full([], 0, DataType.Int), None)
    fd.add_output(grads[2])


inputs = [
    torch.ones(2, 1, 1, 2, 2),
    torch.arange(8).to(torch.float32).as_strided((2, 1, 1, 2, 2), (4, 4, 4, 2, 1)),
    True,
    False,
]

# ---- expect
# f32[2, 1, 1, 2, 2] = 0.0, 1.0, 1.8883855, 2.8883855, 4.0, 5.0, 5.888386, 6.888386
# f32[2, 1, 1, 2] = 0.70710677, 3.592959, 6.3639607, 9.249812
# f32[2, 1, 1, 2, 2] = 1.9640275, 2.9640274, 1.9640275, 2.9640274, 5.9640274, 6.9640274, 5.9640274, 6.9640274
# f32[2, 1, 1, 2, 2] = 1.0558072, 1.0558072, 0.9441927, 0.9441927, 1.0558072, 1.0558072, 0.9441931, 0.9441931
