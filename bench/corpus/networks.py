"""Activations, mixtures of experts, quantisation: what stands between the products of other networks."""

from corpus.writer import FLOAT, FP8, INT


def swiglu_backward(fd):
    "Both gradients of silu(gate) * up, and the product itself again."
    gate, up, grad = (fd.f32(fd.tensor([8192, 5632])) for _ in range(3))
    sigmoid = fd.ops.sigmoid(gate)
    silu = gate * sigmoid
    fd.output(fd.bf16(grad * up * (sigmoid * (gate * (-sigmoid) + gate + 1.0))))
    fd.output(fd.bf16(grad * silu))
    fd.output(fd.bf16(silu * up))


def gelu_bias_dropout_residual(fd):
    "A bias, a GELU, dropout and a residual."
    x, residual, bias = fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([4096]))
    activated = fd.ops.gelu(x + fd.along(bias, 2, 1))
    kept = fd.ops.lt(fd.ops.rand_like(activated), 0.9)
    fd.output(fd.bf16(fd.ops.where(kept, activated * (1 / 0.9), 0.0) + residual))


def gelu_bias_backward(fd):
    "The gradient of a GELU behind a bias, and that of the bias."
    x, grad, bias = fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([4096]))
    gradient = fd.ops.gelu_backward(grad, x + fd.along(bias, 2, 1))
    fd.output(fd.bf16(gradient))
    fd.output(fd.bf16(fd.ops.sum(gradient, dims=[0])))


def relu_matmul_branches(fd):
    "Ten products of one tensor, a ReLU and a row sum of each: branches that need not be in memory together."
    x = fd.tensor([1024, 1024])
    for _ in range(10):
        product = fd.ops.relu(fd.f32(fd.ops.matmul(x, fd.tensor([1024, 1024]))))
        fd.output(fd.ops.sum(product, dims=[1]))


def moe_combine(fd):
    "The two experts of each token gathered and added up with their weights."
    experts, place, weight = fd.tensor([8192, 2048]), fd.tensor([4096, 2], INT, static=(1,), high=8192), fd.tensor([4096, 2], FLOAT, static=(1,))
    tokens = fd.ops.size(place, 0)

    def expert(number):
        row = fd.ops.squeeze(fd.ops.slice(place, [0, number], [tokens, number + 1]), dims=[1])
        share = fd.ops.slice(weight, [0, number], [tokens, number + 1])
        return fd.f32(fd.ops.index_select(experts, row, dim=0)) * share

    fd.output(fd.bf16(expert(0) + expert(1)))


def moe_router(fd):
    "Softmax of the router's scores, the mean share of each expert and the loss that balances them."
    scores = fd.f32(fd.tensor([16384, 64]))
    powers = fd.ops.exp(scores - fd.ops.max(scores, dims=[1], keepdim=True))
    shares = powers / fd.ops.sum(powers, dims=[1], keepdim=True)
    chosen = fd.ops.eq(shares, fd.ops.max(shares, dims=[1], keepdim=True))
    load = fd.ops.mean(fd.f32(chosen), dims=[0]) * fd.ops.mean(shares, dims=[0])
    fd.output(fd.bf16(shares))
    fd.output(fd.ops.sum(load, dims=[0]))


def quantise_blocks(fd):
    "Rows in blocks of 32 over their largest magnitude, as fp8, and the scales."
    x = fd.tensor([8192, 4096], static=(1,))
    rows = fd.ops.size(x, 0)
    blocks = fd.ops.reshape(fd.f32(x), new_shape=[rows, 128, 32])
    scale = fd.ops.max(fd.ops.abs(blocks), dims=[2], keepdim=True) * (1 / 448.0) + 1e-12
    fd.output(fd.ops.reshape(fd.cast(blocks / scale, FP8), new_shape=[rows, 4096]))
    fd.output(fd.ops.squeeze(scale, dims=[2]))


def quantise_rows_and_columns(fd):
    "One tensor as fp8 twice: scaled by rows, and transposed and scaled by columns."
    x = fd.f32(fd.tensor([4096, 4096]))
    by_row = fd.ops.max(fd.ops.abs(x), dims=[1], keepdim=True) * (1 / 448.0) + 1e-12
    by_column = fd.ops.max(fd.ops.abs(x), dims=[0], keepdim=True) * (1 / 448.0) + 1e-12
    fd.output(fd.cast(x / by_row, FP8))
    fd.output(by_row)
    fd.output(fd.ops.permute(fd.cast(x / by_column, FP8), dims=[1, 0]))
    fd.output(by_column)


def modulated_norm_backward(fd):
    "The five gradients of a modulated layer norm: sums along rows, columns and batches of the same tensors."
    grad, x = fd.f32(fd.tensor([14, 1024, 1024])), fd.f32(fd.tensor([14, 1024, 1024]))
    scale = fd.f32(fd.tensor([14, 1, 1024]))
    mean, invstd = fd.tensor([14, 1024, 1], FLOAT), fd.tensor([14, 1024, 1], FLOAT)
    weight = fd.f32(fd.tensor([1024]))
    normalized = (x - mean) * invstd
    affine = normalized * fd.along(weight, 3, 2)
    modulated = grad * (scale + 1.0)
    fd.output(fd.bf16(fd.ops.sum(grad, dims=[1])))
    fd.output(fd.bf16(fd.ops.sum(grad * affine, dims=[1])))
    fd.output(fd.bf16(fd.ops.sum(modulated * normalized, dims=[0, 1])))
    fd.output(fd.bf16(fd.ops.sum(modulated, dims=[0, 1])))
    scaled = modulated * fd.along(weight, 3, 2)
    average, dot = fd.ops.mean(scaled, dims=[2], keepdim=True), fd.ops.mean(scaled * normalized, dims=[2], keepdim=True)
    fd.output(fd.bf16((scaled - average - normalized * dot) * invstd))


GRAPHS = [
    swiglu_backward, gelu_bias_dropout_residual, gelu_bias_backward, relu_matmul_branches, moe_combine, moe_router,
    quantise_blocks, quantise_rows_and_columns, modulated_norm_backward,
]
