"""Parts of models, as nvFuser's users write them: each runs, is equal to the evaluator, and to what its text makes."""

import ml_dtypes
import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition

BF16 = np.dtype(ml_dtypes.bfloat16)
random = np.random.default_rng(7)


def draw(*sizes, dtype=np.float32):
    return random.standard_normal(sizes).astype(dtype)


def checked(define, inputs):
    """The outputs, compared with the evaluator's, and in bytes and strides with those of the definition's own text."""
    with FusionDefinition() as fd:
        define(fd)
    fd.validate(inputs)
    outputs = fd.execute(inputs)
    names = {"DataType": DataType, "FusionDefinition": FusionDefinition}
    exec(repr(fd), names)
    with FusionDefinition() as again:
        names["nvfuser_fusion"](again)
    assert again.fusion == fd.fusion
    for output, other in zip(outputs, again.execute(inputs)):
        assert output.strides == other.strides and output.tobytes() == other.tobytes()
    return outputs


@pytest.mark.parametrize("ends_here", [False, True])
def test_attention_along_an_edge_of_triangles(ends_here):
    channels, width, heads = 16, 8, 2

    def define(fd):
        def weight(rows, columns):
            return fd.define_tensor(shape=[rows, columns], contiguity=True, dtype=DataType.BFloat16)

        def split(of, by):
            rows = fd.ops.reshape(fd.ops.linear(of, by), [batch, tokens, tokens, heads, -1])
            return fd.ops.permute(rows, [0, 1, 3, 2, 4])

        pairs = fd.define_tensor(shape=[-1, -1, -1, channels], contiguity=True, dtype=DataType.BFloat16)
        seen = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Bool)
        inner = heads * width
        to_query, to_key, to_value, to_gate = (weight(inner, channels) for _ in range(4))
        to_bias, back = weight(heads, channels), weight(channels, inner)
        if ends_here:
            pairs, seen = fd.ops.permute(pairs, [0, 2, 1, 3]), fd.ops.permute(seen, [0, 2, 1])
        batch, tokens, _, _ = pairs.shape()
        bias = fd.ops.permute(fd.ops.linear(pairs, to_bias), [0, 3, 1, 2])
        bias = fd.ops.broadcast_in_dim(bias, [batch, 1, heads, tokens, tokens], [0, 2, 3, 4])
        mask = fd.ops.broadcast_in_dim(seen, [batch, tokens, 1, 1, tokens], [0, 1, 4])
        result, *_ = fd.ops.sdpfa_fwd(
            split(pairs, to_query), split(pairs, to_key), split(pairs, to_value), bias=bias, mask=mask, is_causal=False
        )
        gated = fd.ops.cast(fd.ops.mul(result, fd.ops.sigmoid(split(pairs, to_gate))), dtype=DataType.BFloat16)
        rows = fd.ops.reshape(fd.ops.permute(gated, [0, 1, 3, 2, 4]), [batch, tokens, tokens, -1])
        updated = fd.ops.linear(rows, back)
        fd.add_output(fd.ops.permute(updated, [0, 2, 1, 3]) if ends_here else updated)

    inner = heads * width
    weights = [draw(inner, channels, dtype=BF16) for _ in range(4)]
    weights += [draw(heads, channels, dtype=BF16), draw(channels, inner, dtype=BF16)]
    [updated] = checked(define, [draw(2, 5, 5, channels, dtype=BF16), draw(2, 5, 5) > -0.5, *weights])
    assert updated.shape == (2, 5, 5, channels)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_that_a_call_makes_causal(is_causal):
    def define(fd):
        q, k, v, grad = (fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True) for _ in range(4))
        dropout, causal, scale = (fd.define_scalar(None, dtype=kind) for kind in (DataType.Double, DataType.Bool, DataType.Double))
        result, sums, seed, offset = fd.ops.sdpfa_fwd(q, k, v, dropout_p=dropout, is_causal=causal, scale=scale)
        fd.add_output(result)
        for gradient in fd.ops.sdpfa_bwd(grad, q, k, v, result, sums, dropout, causal, seed, offset, scale):
            fd.add_output(gradient)

    q, k, v, grad = (draw(2, 3, 6, 4) for _ in range(4))
    outputs = checked(define, [q, k, v, grad, 0.0, is_causal, 0.5])
    scores = 0.5 * q @ k.swapaxes(2, 3)
    if is_causal:
        scores[..., ~np.tri(6, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(outputs[0], weights @ v, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(outputs[3], weights.swapaxes(2, 3) @ grad, rtol=1e-4, atol=1e-5)


def test_attention_lies_as_its_queries():
    def define(fd):
        q = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True, stride_order=[3, 1, 2, 0])
        k = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True)
        fd.add_output(fd.ops.sdpfa_fwd(q, k, k)[0])
        fd.add_output(fd.ops.sdpfa_fwd(fd.ops.permute(k, [0, 2, 1, 3]), q, q)[0])
        fd.add_output(fd.ops.sdpfa_fwd(k, q, q)[0])

    q = draw(2, 5, 5, 4).swapaxes(1, 2)
    outputs = checked(define, [q, draw(2, 5, 5, 4)])
    assert [output.strides for output in outputs] == [q.strides, q.strides, (400, 80, 16, 4)]


def test_rotations_with_padded_slices_beside_nothing():
    def define(fd):
        x = fd.define_tensor(shape=[1, 4, 6, 16], contiguity=[None, True, True, True], stride_order=[3, 1, 2, 0])
        angles = fd.define_tensor(shape=[1, -1, 4, 16], contiguity=[None, True, None, True])
        halves = [fd.ops.slice(x, [0, 0, 0, first], [1, 4, 6, first + 8], manual_normalization=0) for first in (0, 8)]
        transposed = fd.ops.cat([fd.ops.neg(halves[1]), halves[0]], dim=-1, manual_padding=0)
        waves = fd.ops.permute(angles, [0, 2, 1, 3])
        rotated = fd.ops.add(fd.ops.mul(x, fd.ops.cos(waves)), fd.ops.mul(transposed, fd.ops.sin(waves)))
        nothing = fd.ops.slice(x, [0, 0, 0, 0], [1, 4, 6, 0], [1, 1, 1, 1])
        padded = fd.ops.pad(fd.ops.full([1, 4, 6, 0], fd.define_scalar(0, dtype=DataType.Int), DataType.Float), [0, 16])
        fd.add_output(fd.ops.cat([fd.ops.add(rotated, padded), nothing], dim=-1))

    x = draw(1, 6, 4, 16).swapaxes(1, 2)
    angles = np.lib.stride_tricks.as_strided(draw(6, 16), (1, 6, 4, 16), (384, 64, 0, 4))
    waves = angles.swapaxes(1, 2)
    transposed = np.concatenate([-x[..., 8:], x[..., :8]], -1)
    np.testing.assert_allclose(
        checked(define, [x, angles])[0], x * np.cos(waves) + transposed * np.sin(waves), rtol=1e-4, atol=1e-5
    )


def test_half_values_that_are_expanded():
    def define(fd):
        rows = fd.define_tensor(shape=[-1, -1], contiguity=[True, None], dtype=DataType.Half)
        columns = fd.define_tensor(shape=[-1, -1], contiguity=[None, True], dtype=DataType.Half)
        x = fd.define_tensor(shape=[-1, -1, -1], contiguity=[None, None, True], dtype=DataType.Half)
        product = fd.ops.mul(fd.ops.cast(rows, DataType.Float), fd.ops.cast(columns, DataType.Float))
        sizes = [fd.define_scalar(size, dtype=DataType.Int) for size in (3, 4, 1, 5)]
        product = fd.ops.reshape(fd.ops.cast(product, DataType.Half), new_shape=sizes[:3])
        product = fd.ops.broadcast_in_dim(product, shape=[sizes[0], sizes[1], sizes[3]], broadcast_dims=[0, 1, 2])
        fd.add_output(fd.ops.cast(fd.ops.mul(product, x), DataType.Half))

    strided = np.lib.stride_tricks.as_strided
    rows = strided(draw(3, dtype=np.float16), (3, 4), (2, 0))
    columns = strided(draw(4, dtype=np.float16), (3, 4), (0, 2))
    x = strided(draw(5, dtype=np.float16), (3, 4, 5), (0, 0, 2))
    [output] = checked(define, [rows, columns, x])
    np.testing.assert_allclose(output, (rows * columns)[:, :, None] * x, rtol=2e-3, atol=1e-3)


def test_numbers_in_memory_that_are_broadcast_and_written_to():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=[True], stride_order=[0])
        step = fd.define_tensor(shape=[], contiguity=[])
        total = fd.define_tensor(shape=[], contiguity=[])
        spread = fd.ops.broadcast_in_dim(step, shape=x.shape(), broadcast_dims=[])
        fd.add_output(fd.ops.sum(fd.ops.add(x, spread), dims=[0]), total)
        fd.add_output(fd.ops.add(step, 1.0), step)
        fd.add_output(fd.ops.mul(x, spread))
    x, step, total = np.arange(1000, dtype=np.float32), np.array(2, np.float32), np.array(0, np.float32)
    [product] = fd.execute([x, step, total])
    assert step == 3 and total == x.sum() + 2000 and (product == 2 * x).all()


def test_a_column_beside_its_rows_that_is_written_to():
    with FusionDefinition() as fd:
        column = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], stride_order=[1, 0])
        x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], stride_order=[1, 0])
        fd.add_output(fd.ops.add(x, column))
        fd.add_output(fd.ops.neg(column), column)
    column, x = draw(300, 1), draw(300, 12)
    expected, negated = x + column, -column
    [output] = fd.execute([column, x])
    assert (output == expected).all() and (column == negated).all()


def test_a_gradient_through_a_normalization_of_groups():
    def define(fd):
        means = fd.define_tensor(shape=[2, 4], contiguity=True, stride_order=[0, 1])
        scales = fd.define_tensor(shape=[2, 4, 1, 1, 1], contiguity=[True, True, None, None, None])
        x = fd.define_tensor(shape=[2, 4, 3, 6, 6], contiguity=True)
        weight = fd.define_tensor(shape=[12], contiguity=True)
        grad = fd.define_tensor(shape=[2, 12, 8, 8], contiguity=True)
        whole = [2, 4, 3, 6, 6]
        spread = fd.ops.broadcast_in_dim(fd.ops.broadcast_in_dim(means, [2, 4, 1, 1, 1], [0, 1]), whole, [0, 1, 2, 3, 4])
        centred = fd.ops.sub(x, spread)
        channels = fd.ops.broadcast_in_dim(fd.ops.reshape(weight, [1, 12, 1, 1]), [2, 12, 6, 6], [0, 1, 2, 3])
        normed = fd.ops.reshape(fd.ops.mul(centred, fd.ops.expand(scales, whole)), [2, 12, 6, 6])
        inner = fd.ops.pad(grad, [-1, -1, -1, -1, 0, 0, 0, 0], fd.define_scalar(0.0, dtype=DataType.Double))
        activated = fd.ops.reciprocal(fd.ops.add(fd.ops.exp(fd.ops.neg(fd.ops.mul(normed, channels))), 1.0))
        grad_normed = fd.ops.mul(inner, activated)
        by_group = fd.ops.reshape(fd.ops.mul(channels, grad_normed), whole)
        sums = fd.ops.sum(fd.ops.mul(centred, by_group), dims=[2, 3, 4], keepdim=False, dtype=DataType.Null)
        sums = fd.ops.mul(fd.ops.broadcast_in_dim(sums, [2, 4, 1, 1, 1], [0, 1]), fd.ops.pow(scales, 3.0))
        result = fd.ops.reshape(fd.ops.add(by_group, fd.ops.mul(sums, centred)), [1, 2, 12, 6, 6])
        rows = fd.ops.reshape(fd.ops.permute(result, [0, 3, 4, 1, 2]), [72, 12])
        fd.add_output(rows)
        fd.add_output(fd.ops.permute(rows, [1, 0]))
        fd.add_output(fd.ops.reshape(fd.ops.sum(grad_normed, [0, 2, 3], True), [12]))

    means = draw(4, 2).T
    checked(define, [means, draw(2, 4, 1, 1, 1), draw(2, 4, 3, 6, 6), draw(12), draw(2, 12, 8, 8)])


def test_rows_of_a_table_within_a_limit():
    def define(fd):
        index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
        table = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
        limit = fd.define_scalar(None, dtype=DataType.Double)
        which = fd.define_scalar(None, dtype=DataType.Bool)
        fd.add_output(fd.ops.embedding_fwd(index, table, fd.define_scalar(2), limit, fd.define_scalar(2.0), which, which))

    table = draw(10, 8, dtype=BF16)
    kept, index = table.copy(), random.integers(0, 10, (3, 2))
    [rows] = checked(define, [index, table, 0.5, True])
    lengths = np.linalg.norm(rows.astype(np.float32), axis=-1)
    assert rows.shape == (3, 2, 8) and (lengths < 0.51).all() and (lengths > 0.49).all()
    assert table.tobytes() == kept.tobytes()
