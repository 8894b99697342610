"""Attention and what stands around it: rotary embeddings, norms of queries and keys, masks, products of a library."""

from corpus.norms import rms
from corpus.softmaxes import softmax


def rotate(fd, x, cos, sin, tokens, width):
    """Rotary embedding of [1, heads, tokens, width] by halves."""
    heads, half = fd.ops.size(x, 1), width // 2
    first = fd.ops.slice(x, [0, 0, 0, 0], [1, heads, tokens, half])
    second = fd.ops.slice(x, [0, 0, 0, half], [1, heads, tokens, width])
    rotated = fd.ops.cat([-second, first], dim=3)
    return x * fd.along(cos, 4, 2, 3) + rotated * fd.along(sin, 4, 2, 3)


def rope(fd):
    "Rotary position embedding by halves, of queries and keys of fewer heads."
    q, k = fd.tensor([1, 32, 4096, 128], static=(0, 3)), fd.tensor([1, 8, 4096, 128], static=(0, 3))
    cos, sin = fd.f32(fd.tensor([4096, 128], static=(1,))), fd.f32(fd.tensor([4096, 128], static=(1,)))
    tokens = fd.ops.size(q, 2)
    fd.output(fd.bf16(rotate(fd, fd.f32(q), cos, sin, tokens, 128)))
    fd.output(fd.bf16(rotate(fd, fd.f32(k), cos, sin, tokens, 128)))


def rope_interleaved(fd):
    "Rotary position embedding of neighbours, by reshapes."
    x = fd.tensor([1, 32, 4096, 128], static=(0, 3))
    cos, sin = fd.f32(fd.tensor([4096, 64], static=(1,))), fd.f32(fd.tensor([4096, 64], static=(1,)))
    heads, tokens = fd.ops.size(x, 1), fd.ops.size(x, 2)
    pairs = fd.ops.reshape(fd.f32(x), new_shape=[1, heads, tokens, 64, 2])
    cos, sin = fd.along(cos, 5, 2, 3), fd.along(sin, 5, 2, 3)
    even = fd.ops.slice(pairs, [0, 0, 0, 0, 0], [1, heads, tokens, 64, 1])
    odd = fd.ops.slice(pairs, [0, 0, 0, 0, 1], [1, heads, tokens, 64, 2])
    rotated = fd.ops.cat([even * cos - odd * sin, even * sin + odd * cos], dim=4)
    fd.output(fd.bf16(fd.ops.reshape(rotated, new_shape=[1, heads, tokens, 128])))


def rope_backward(fd):
    "The gradient of a rotary position embedding by halves."
    grad = fd.tensor([1, 32, 4096, 128], static=(0, 3))
    cos, sin = fd.f32(fd.tensor([4096, 128], static=(1,))), fd.f32(fd.tensor([4096, 128], static=(1,)))
    fd.output(fd.bf16(rotate(fd, fd.f32(grad), cos, -sin, fd.ops.size(grad, 2), 128)))


def qk_norm_rope(fd):
    "RMS norm of each head of the queries, then a rotary embedding."
    x, weight = fd.tensor([1, 32, 8192, 128], static=(0, 3)), fd.f32(fd.tensor([128], static=(0,)))
    cos, sin = fd.f32(fd.tensor([8192, 128], static=(1,))), fd.f32(fd.tensor([8192, 128], static=(1,)))
    normalized = rms(fd, fd.f32(x), 3)[0] * fd.along(weight, 4, 3)
    fd.output(fd.bf16(rotate(fd, normalized, cos, sin, fd.ops.size(x, 2), 128)))


def masked_softmax_dropout(fd):
    "Scores scaled, masked causally, softmax and dropout: attention between its two products."
    scores = fd.tensor([2, 16, 1024, 1024])
    positions = fd.ops.iota(fd.ops.size(scores, 3))
    seen = fd.ops.le(fd.along(positions, 4, 3), fd.along(positions, 4, 2))
    masked = fd.ops.where(seen, fd.f32(scores) * 0.125, float("-inf"))
    probabilities = softmax(fd, masked, 3)
    kept = fd.ops.lt(fd.ops.rand_like(probabilities), 0.9)
    fd.output(fd.bf16(probabilities))
    fd.output(fd.bf16(fd.ops.where(kept, probabilities * (1 / 0.9), 0.0)))


def attention(fd):
    "Causal attention with both of its products."
    q, k, v = (fd.tensor([2, 8, 512, 64]) for _ in range(3))
    scores = fd.f32(fd.ops.matmul(q, fd.ops.permute(k, dims=[0, 1, 3, 2]))) * 0.125
    positions = fd.ops.iota(fd.ops.size(q, 2))
    seen = fd.ops.le(fd.along(positions, 4, 3), fd.along(positions, 4, 2))
    fd.output(fd.ops.matmul(fd.bf16(softmax(fd, fd.ops.where(seen, scores, float("-inf")), 3)), v))


def attention_backward(fd):
    "The gradients of attention, of the probabilities that the forward pass kept."
    q, k, v, grad = (fd.tensor([2, 8, 512, 64]) for _ in range(4))
    probabilities = fd.tensor([2, 8, 512, 512])
    swap = lambda x: fd.ops.permute(x, dims=[0, 1, 3, 2])
    fd.output(fd.ops.matmul(swap(probabilities), grad))
    wide = fd.f32(probabilities)
    weighted = fd.f32(fd.ops.matmul(grad, swap(v))) * wide
    scores = fd.bf16((weighted - wide * fd.ops.sum(weighted, dims=[3], keepdim=True)) * 0.125)
    fd.output(fd.ops.matmul(scores, k))
    fd.output(fd.ops.matmul(swap(scores), q))


def transformer_block(fd):
    "A block before its attention and behind it: norm, product of queries, keys and values; residual, norm, SwiGLU."
    x, heads = fd.tensor([1024, 1024], static=(1,)), fd.tensor([1024, 1024], static=(1,))
    first, second = fd.f32(fd.tensor([1024], static=(0,))), fd.f32(fd.tensor([1024], static=(0,)))
    into, out = fd.tensor([3072, 1024], static=(0, 1)), fd.tensor([1024, 1024], static=(0, 1))
    gate, up, down = fd.tensor([2816, 1024], static=(0, 1)), fd.tensor([2816, 1024], static=(0, 1)), fd.tensor([1024, 2816], static=(0, 1))
    normalized = fd.bf16(rms(fd, fd.f32(x), 1)[0] * fd.along(first, 2, 1))
    fd.output(fd.ops.linear(normalized, into))
    residual = fd.f32(x) + fd.f32(fd.ops.linear(heads, out))
    normalized = fd.bf16(rms(fd, residual, 1)[0] * fd.along(second, 2, 1))
    hidden = fd.ops.silu(fd.f32(fd.ops.linear(normalized, gate))) * fd.f32(fd.ops.linear(normalized, up))
    fd.output(fd.bf16(residual + fd.f32(fd.ops.linear(fd.bf16(hidden), down))))


GRAPHS = [
    rope, rope_interleaved, rope_backward, qk_norm_rope, masked_softmax_dropout, attention, attention_backward,
    transformer_block,
]
