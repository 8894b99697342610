"""What callers from torch give: parameters, torch.Size, strides; and attention and embeddings as torch computes them."""

import itertools

import pytest
import torch

from ferrofuse import DataType, FusionDefinition


def test_parameters_and_sizes_of_torch():
    x = torch.randn(4, 6, 16, requires_grad=True)
    weight, bias = (torch.nn.Parameter(torch.randn(16)) for _ in range(2))
    with FusionDefinition() as fd:
        rows = fd.define_tensor(sizes=x.size(), strides=x.stride(), dtype=DataType.Float)
        scale, shift = fd.from_pytorch(weight), fd.from_pytorch(tensor=bias)
        variance, mean = fd.ops.var_mean(rows, dims=[2], correction=0, keepdim=True)
        centred = fd.ops.mul(fd.ops.sub(rows, mean), fd.ops.rsqrt(fd.ops.add(variance, 1e-5)))
        scaled = fd.ops.mul(centred, fd.ops.broadcast_in_dim(scale, shape=x.size(), broadcast_dims=[2]))
        fd.add_output(fd.ops.add(scaled, fd.ops.broadcast_in_dim(shift, shape=x.shape, broadcast_dims=[2])))
        fd.add_output(fd.ops.permute(rows, [1, 0, 2]))
    output, view = fd.execute([x, weight, bias])
    assert not output.requires_grad and not view.requires_grad and view.data_ptr() == x.data_ptr()
    torch.testing.assert_close(output, torch.nn.functional.layer_norm(x, (16,), weight, bias).detach())


@pytest.mark.parametrize(
    "dropout, is_causal, scale", list(itertools.product([None, 0.0], [None, False, True], [None, 0.05]))
)
def test_attention_is_torchs(dropout, is_causal, scale):
    query, key, value, grad = (torch.randn(2, 3, 8, 4, dtype=torch.bfloat16, requires_grad=True) for _ in range(4))
    asked = [(dropout, DataType.Double), (is_causal, DataType.Bool), (scale, DataType.Double)]
    with FusionDefinition() as fd:
        q, k, v, g = (fd.define_tensor(shape=[-1] * 4, contiguity=True, dtype=DataType.BFloat16) for _ in range(4))
        p, causal, by = (None if given is None else fd.define_scalar(None, dtype=kind) for given, kind in asked)
        result, sums, seed, offset = fd.ops.sdpfa_fwd(q, k, v, dropout_p=p, is_causal=causal, scale=by)
        fd.add_output(result)
        for gradient in fd.ops.sdpfa_bwd(g, q, k, v, result, sums, p, causal, seed, offset, by):
            fd.add_output(gradient)
    numbers = [given for given, _ in asked if given is not None]
    result, *gradients = fd.execute([query, key, value, grad, *numbers])
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, is_causal=bool(is_causal), scale=scale
    )
    torch.testing.assert_close(result, expected.detach(), rtol=2e-2, atol=2e-2)
    expected.backward(grad.detach())
    for gradient, of in zip(gradients, (query, key, value)):
        torch.testing.assert_close(gradient, of.grad, rtol=5e-2, atol=5e-2)


def test_the_seed_of_older_torch_has_no_axis():
    with FusionDefinition() as fd:
        q, k, v, g, result = (fd.define_tensor(shape=[-1] * 4, contiguity=True) for _ in range(5))
        sums = fd.define_tensor(shape=[-1] * 3, contiguity=True)
        seed, offset = (fd.define_tensor(shape=[], dtype=DataType.Int, is_cpu=True) for _ in range(2))
        gradients = fd.ops.sdpfa_bwd(g, q, k, v, result, sums, 0.5, False, seed, offset, None)
        fd.add_output(gradients[2])
    tensors = [torch.randn(1, 1, 4, 4) for _ in range(5)]
    numbers = [torch.tensor(3), torch.tensor(5)]
    [gradient] = fd.execute([*tensors, torch.zeros(1, 1, 4), *numbers])
    assert gradient.shape == (1, 1, 4, 4) and gradient.isfinite().all()


@pytest.mark.parametrize("max_norm, norm_type", list(itertools.product([None, 1e-5, 1.0], [None, 1.0, 3.0])))
def test_embeddings_are_torchs(max_norm, norm_type):
    index, table = torch.randint(10, (3, 2)), torch.randn(10, 4)
    asked = [(-2, DataType.Int), (max_norm, DataType.Double), (norm_type, DataType.Double), (True, DataType.Bool)]
    with FusionDefinition() as fd:
        rows, weight = fd.from_pytorch(index), fd.from_pytorch(table)
        given = [None if number is None else fd.define_scalar(None, dtype=kind) for number, kind in asked]
        fd.add_output(fd.ops.embedding_fwd(rows, weight, *given, sparse=None))
    kept = table.clone()
    [output] = fd.execute([index, table, *(number for number, _ in asked if number is not None)])
    assert torch.equal(table, kept)
    expected = torch.nn.functional.embedding(
        index, kept, padding_idx=-2, max_norm=max_norm, norm_type=2.0 if norm_type is None else norm_type
    )
    torch.testing.assert_close(output, expected)
