"""docs/torch.md does what it says, each block after those before it; docs/torch-ops.md is as it would be made now."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n[^\n]*prints[^\n]*\n\n```\n(?P<printed>.*?)```)?", re.S)
# In a process of its own: what other tests have compiled is shared.
RUN = "import sys; exec(compile(sys.stdin.read(), 'docs/torch.md', 'exec'))"


def test_the_page_is_true():
    blocks = list(BLOCK.finditer((ROOT / "docs" / "torch.md").read_text()))
    code = "\n".join(block["code"] for block in blocks)
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", RUN], input=code, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "".join(block["printed"] or "" for block in blocks)


def test_the_page_of_ops_is_up_to_date():
    script = ROOT / "scripts" / "generate_torch_ops.py"
    ended = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
