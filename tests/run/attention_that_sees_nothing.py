# A query that no key may answer gets zeros; its sum has the logarithm minus infinity. A causal one sees itself first.
def f(fd):
    q = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True)
    numbers = fd.define_tensor(shape=[-1, -1], contiguity=True)
    mask = fd.ops.lt(numbers, 1.0)
    output, logsumexp, seed, offset = fd.ops.sdpfa_fwd(q, q, q, mask=mask, dropout_p=0.0, is_causal=False, scale=1.0)
    fd.add_output(output)
    fd.add_output(logsumexp)
    causal, sums, _, _ = fd.ops.sdpfa_fwd(q, q, q, is_causal=True, scale=0.0)
    fd.add_output(causal)
    fd.add_output(seed)
    fd.add_output(offset)

inputs = [
    torch.arange(0, 4, 1, dtype=torch.float32).reshape(1, 1, 2, 2),
    torch.arange(0, 4, 1, dtype=torch.float32).reshape(2, 2),
]

# ---- expect
# f32[1, 1, 2, 2] = 0.0, 1.0, 0.0, 0.0
# f32[1, 1, 2] = 1.0, float("-inf")
# f32[1, 1, 2, 2] = 0.0, 1.0, 1.0, 2.0
# u64[2] = 0, 0
# u64[] = 0
