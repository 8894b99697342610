"""The comparison with torch on a GPU, run on the CPU: its formulas, checks and table."""

import json
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[3] / "bench" / "gpu_peers.py"


def test_workloads_are_checked_and_timed():
    command = [sys.executable, str(SCRIPT), "softmax_bf16", "layer_norm_bf16", "--quick", "--device", "cpu", "--calls", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [row["workload"] for row in rows] == ["softmax_bf16", "layer_norm_bf16"]
    assert all(set(row["ms"]) == {"ferrofuse", "eager", "inductor", "copy"} for row in rows)
    assert "| softmax_bf16 | 16x128 |" in done.stdout and "geometric mean" in done.stdout
