"""Modules and functions through Thunder's nvFuser executor on CPU tensors: forward and backward equal eager."""

import copy

import litgpt
import pytest
import thunder
import torch
from litgpt.model import Block
from torch import nn
from torch.nn import functional

HALF_TYPES = {torch.float16: 2e-2, torch.bfloat16: 1e-1}


def fusions(jitted, backward=False):
    """The names of the fused regions of a trace."""
    traces = thunder.last_backward_traces(jitted) if backward else thunder.last_traces(jitted)
    return [symbol.sym.name for symbol in thunder.examine.get_fusion_symbols(traces[-1])]


def require_equal(module, *inputs, **tolerance):
    """Runs a module eager and jitted, forward and backward, and compares outputs and all gradients."""
    eager, inputs = copy.deepcopy(module), [given.detach() for given in inputs]
    results = []
    jitted = thunder.jit(module)
    for run, of in ((jitted, module), (eager, eager)):
        given = [one.clone().requires_grad_(one.is_floating_point()) for one in inputs]
        out = run(*given)
        out.float().square().mean().backward()
        results.append([out.detach(), *(one.grad for one in given), *(one.grad for one in of.parameters())])
    for got, expected in zip(*results):
        torch.testing.assert_close(got, expected, **tolerance)
    names = [*fusions(jitted), *fusions(jitted, backward=True)]
    assert names == [f"nvFusion{number}" for number in range(len(names))] and len(names) > 1


def mlp(dtype=torch.float32):
    return nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32)).to(dtype)


@pytest.mark.parametrize("shape", [(4, 32), (2, 5, 32)])
def test_an_mlp_with_layer_norm_and_gelu(shape):
    require_equal(mlp(), torch.randn(shape), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_an_mlp_in_half_precision(dtype):
    require_equal(mlp(dtype), torch.randn(4, 32, dtype=dtype), rtol=HALF_TYPES[dtype], atol=HALF_TYPES[dtype])


class OfBlock(nn.Module):
    """A block of litgpt with what the model gives it besides."""

    def __init__(self, **changes):
        super().__init__()
        self.config = litgpt.Config.from_name("pythia-14m", n_layer=1, block_size=16, **changes)
        self.block = Block(self.config, 0)
        cos, sin = litgpt.GPT(self.config).rope_cache()
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, x):
        return self.block(x, self.cos.unsqueeze(0), self.sin.unsqueeze(0))


NORMS = [{}, {"norm_class_name": "RMSNorm", "mlp_class_name": "LLaMAMLP", "intermediate_size": 96, "bias": False}]


@pytest.mark.parametrize("changes", NORMS, ids=["gptneox", "llama"])
def test_a_block_of_litgpt(changes):
    module = OfBlock(**changes)
    require_equal(module, torch.randn(2, 16, module.config.n_embd), rtol=1e-3, atol=1e-5)


def test_embedding_and_cross_entropy():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(50, 16)
            self.norm = nn.LayerNorm(16)

        def forward(self, tokens):
            logits = self.norm(self.table(tokens)) @ self.table.weight.T
            return functional.cross_entropy(logits, tokens, ignore_index=-100)

    require_equal(Model(), torch.randint(0, 50, (12,)), rtol=1e-4, atol=1e-5)


def test_dropout_is_the_same_forward_and_backward():
    x = torch.ones(64, 64, requires_grad=True)
    jitted = thunder.jit(lambda x: functional.dropout(torch.exp(x * 0.0), 0.5) * 2.0 + x * 0.0)
    out = jitted(x)
    assert 0.4 < (out == 0).float().mean() < 0.6 and set(out.unique().tolist()) == {0.0, 4.0}
    again = jitted(x)
    assert not torch.equal(out, again)
    torch.manual_seed(3)
    first = jitted(x)
    torch.manual_seed(3)
    assert torch.equal(jitted(x), first)
    y = torch.randn(64, 64, requires_grad=True)
    dropped = thunder.jit(lambda y: functional.dropout(torch.sin(y), 0.25))
    out = dropped(y)
    out.sum().backward()
    assert torch.equal(out == 0, y.grad == 0)


def dropped_twice(x):
    return functional.dropout(torch.sin(functional.dropout(torch.exp(x), 0.5)), 0.25)


def test_regions_draw_again_what_others_have_drawn(monkeypatch):
    """By seed and offset, as with nvFuser: no mask is kept for the backward pass, and draws are those of one region."""
    results = []
    for replaced in (True, False):
        if not replaced:
            monkeypatch.setattr("thunder.core.rematerialization.replace_uniform", lambda trace: trace)
        jitted, x = thunder.jit(dropped_twice), torch.linspace(-1, 1, 64).requires_grad_()
        for seed in (0, -1, 2**40):
            torch.manual_seed(seed)
            out = jitted(x)
            results.append((out.detach(), *torch.autograd.grad(out.sum(), x), torch.rand(1)))
        forward, backward = thunder.last_traces(jitted)[-1], thunder.last_backward_traces(jitted)[-1]
        assert (str(forward).count("get_and_update_rng_state_impl(") == 2) == replaced
        assert ("uniform_philox(" in str(backward)) == replaced
    for with_state, without in zip(results[:3], results[3:]):
        assert all(torch.equal(a, b) for a, b in zip(with_state, without))
    assert not torch.equal(results[0][0], results[1][0])


def test_states_of_cuda_are_cudas():
    """Tensors on CUDA devices stay torch's, and so does what is asked of their generators."""
    import thunder.core.prims as prims
    from thunder.core.devices import to_device

    with thunder.core.trace.tracectx(thunder.core.trace.TraceCtx()):
        assert len(prims.get_and_update_rng_state(None, None, to_device("cuda:0"))) == 2
        assert len(prims.get_and_update_rng_state(None, None, to_device("cpu"))) == 2
        with pytest.raises(NotImplementedError, match="supported for CUDA only"):
            prims.get_and_update_rng_state(None, None, to_device("meta"))


@pytest.mark.parametrize("dtype", HALF_TYPES)
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(dtype, is_causal):
    def attention(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    given = [torch.randn(2, 4, 16, 8, dtype=dtype, requires_grad=True) for _ in range(3)]
    executor = thunder.nvfuser_executor
    jitted = thunder.jit(attention, executors=[executor], nv_enable_sdpa=True)
    gradients = []
    for run in (jitted, attention):
        out = run(*given)
        gradients.append([out.detach(), *torch.autograd.grad(out.float().square().sum(), given)])
    for got, expected in zip(*gradients):
        torch.testing.assert_close(got, expected, rtol=HALF_TYPES[dtype], atol=HALF_TYPES[dtype])
    assert "nv_sdpfa_fwd" in str(thunder.last_traces(jitted)[-1])


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_floats_of_one_byte(dtype):
    """Inputs, outputs and what lies between, which torch converts where it gives such floats to no other library."""

    def rounded(x):
        return torch.exp(x) * 2.0, torch.exp(x.to(torch.float32)).to(dtype).to(torch.float32) + 1.0

    x = torch.randn(4, 8)
    for given, function in ((x, rounded), (x.to(dtype), lambda x: x.to(torch.float32) * 2.0), (x, lambda x: x.to(dtype))):
        got, expected = thunder.jit(function)(given), function(given)
        torch.testing.assert_close(got, expected)


def test_in_place_ops_write_their_inputs():
    def step(x, y):
        return x.copy_(torch.sin(y) + x)

    x, y = torch.randn(8, 8), torch.randn(8, 8)
    expected = torch.sin(y) + x
    out = thunder.jit(step)(x, y)
    torch.testing.assert_close(x, expected)
    torch.testing.assert_close(out, expected)


def test_sizes_may_be_symbolic():
    jitted = thunder.jit(lambda x: torch.sum(torch.exp(x), 1) * 2.0, cache="symbolic values")
    for rows in (3, 5):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(jitted(x), torch.exp(x).sum(1) * 2.0)


def test_fusions_tell_how_to_reproduce_them():
    jitted = thunder.jit(lambda x: torch.exp(x) + 1.0, nv_store_fusion_inputs=True, nv_save_fake_inputs=True)
    jitted(torch.randn(4, 4))
    trace = thunder.last_traces(jitted)[-1]
    script = thunder.examine.get_nvfuser_repro(trace, "nvFusion0")
    assert "# CUDA devices:\n" in script and "import torch\nfrom nvfuser_direct import FusionDefinition, DataType\n" in script
    made = "inputs = [\n    torch.testing.make_tensor((4, 4), dtype=torch.float32, device='cpu'),\n]\nfd.execute(inputs)\n"
    assert script.endswith(made) and "def nvfuser_fusion(fd : FusionDefinition) -> None :" in script
    exec(compile(script, "repro", "exec"), {})
    [symbol] = thunder.examine.get_fusion_symbols(trace)
    fd = symbol._call_ctx["nvFusion0"].last_used
    assert [tuple(kept.shape) for kept in fd.fake_inputs] == [(4, 4)] and fd.last_repro_script() == script
