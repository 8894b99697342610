# Dropout in attention: what is kept of the weights is scaled, and the backward pass finds the same again. With the
# identity for values the result is the weights themselves, so the gradient of the values is their transpose times the
# other gradient; nothing is left where the chance is 1, everything where it is 0 at run time.
def f(fd):
    q = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True)
    grad = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True)
    none = fd.define_scalar(dtype=DataType.Double)
    v = fd.ops.sub(fd.ops.triu(q, 0), fd.ops.triu(q, 1))
    kept, sums, seed, offset = fd.ops.sdpfa_fwd(q, q, v, dropout_p=0.5, scale=0.0)
    fd.add_output(kept)
    fd.add_output(seed)
    fd.add_output(offset)
    dq, dk, dv = fd.ops.sdpfa_bwd(grad, q, q, v, kept, sums, 0.5, False, seed, offset, 0.0)
    fd.add_output(fd.ops.sub(dv, fd.ops.matmul(fd.ops.permute(kept, [0, 1, 3, 2]), grad)))
    again, _, _, other = fd.ops.sdpfa_fwd(q, q, v, dropout_p=0.5, scale=0.0)
    fd.add_output(other)
    fd.add_output(fd.ops.any(fd.ops.ne(again, kept), [0, 1, 2, 3]))
    nothing, _, _, _ = fd.ops.sdpfa_fwd(q, q, v, dropout_p=1.0, scale=0.0)
    everything, _, _, _ = fd.ops.sdpfa_fwd(q, q, v, dropout_p=none, scale=0.0)
    fd.add_output(nothing)
    fd.add_output(everything)


inputs = [
    torch.ones((1, 1, 4, 4)),
    torch.arange(0, 16, 1, dtype=torch.float32).reshape(1, 1, 4, 4),
    0.0,
]

# ---- expect
# f32[1, 1, 4, 4] = 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.5, 0.0, 0.5, 0.5, 0.0, 0.5, 0.0, 0.0
# u64[2] = 0, 0
# u64[] = 0
# f32[1, 1, 4, 4] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
# u64[] = 1
# bool[] = True
# f32[1, 1, 4, 4] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
# f32[1, 1, 4, 4] = 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25
