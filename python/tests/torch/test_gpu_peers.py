"""The comparison with torch on a GPU, run on the CPU: its formulas, checks and table."""

import json
import pathlib
import subprocess
import sys
import types

SCRIPT = pathlib.Path(__file__).parents[3] / "bench" / "gpu_peers.py"


def test_workloads_are_checked_and_timed():
    command = [sys.executable, str(SCRIPT), "softmax_bf16", "layer_norm_bf16", "--quick", "--device", "cpu", "--calls", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [row["workload"] for row in rows] == ["softmax_bf16", "layer_norm_bf16"]
    # JAX is there too; Liger and Quack need a GPU.
    assert all(set(row["ms"]) == {"ferrofuse", "eager", "inductor", "copy", "jax"} for row in rows)
    assert "| softmax_bf16 | 16x128 |" in done.stdout and "* inductor takes " in done.stdout


def test_libraries_that_are_there_contend(monkeypatch, capsys):
    """Libraries of the names and functions of Liger's and Quack's, which run on a GPU alone: one works, one fails."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import gpu_libraries
    import torch
    from peer_workloads import WORKLOADS

    def module(name, **functions):
        made = types.ModuleType(name)
        vars(made).update(functions)
        monkeypatch.setitem(sys.modules, name, made)
        return made

    swiglu = lambda gate, up: torch.nn.functional.silu(gate) * up  # noqa: E731
    functional = module("liger_kernel.transformers.functional", liger_swiglu=swiglu)
    for name in ("softmax", "layer_norm", "rms_norm", "cross_entropy"):
        vars(functional)[f"liger_{name}"] = lambda *given: 1 / 0
    module("liger_kernel")
    module("liger_kernel.transformers", functional=functional)
    known = {workload.id: workload for workload in WORKLOADS}
    found = {}
    for name in ("silu_mul_bf16", "softmax_bf16", "sum_outer_f32"):
        workload = known[name]
        found[name] = set(gpu_libraries.contenders(workload, [workload.inputs(4, 8)]))
    assert found == {"silu_mul_bf16": {"liger", "jax"}, "softmax_bf16": {"jax"}, "sum_outer_f32": {"jax"}}
    assert capsys.readouterr().err == "no liger for softmax_bf16: division by zero\n"
