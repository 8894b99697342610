"""A compiled model warns of a missing libLLVM at the user's line."""

import os
import subprocess
import sys

PROGRAM = """
import torch

model = torch.compile(torch.nn.Sequential(torch.nn.LayerNorm(8), torch.nn.SiLU()), backend="ferrofuse")
with torch.no_grad():
    model(torch.ones(2, 8))
    model(torch.ones(2, 8))
"""


def test_a_missing_libllvm_is_warned_of_once(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(PROGRAM)
    environment = {**os.environ, "FERROFUSE_CACHE": "none", "FERROFUSE_LIBLLVM": "none"}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.count("RuntimeWarning: running on the evaluator, which is slow: ") == 1, done.stderr
    assert f"{file}:6: RuntimeWarning: running" in done.stderr
