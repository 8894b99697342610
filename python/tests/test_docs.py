"""The Python of the pages does what they say: each block runs after those before it, and prints what follows `prints`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {
    "README": (ROOT / "README.md").read_text().split("## From Python")[1].split("\n## ")[0],
    "tutorial": (ROOT / "docs" / "tutorial.md").read_text(),
    "migration": (ROOT / "docs" / "migration.md").read_text(),
}
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n[^\n]*prints[^\n]*\n\n```\n(?P<printed>.*?)```)?", re.S)


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_true(page, capsys):
    names = {}
    blocks = list(BLOCK.finditer(PAGES[page]))
    assert blocks
    for block in blocks:
        exec(compile(block["code"], page, "exec"), names)
        printed = capsys.readouterr().out
        assert printed == (block["printed"] or ""), block["code"]
