"""The Python of the pages does what they say: each block runs after those before it, and prints what follows `prints`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {
    "README": (ROOT / "README.md").read_text().split("## From Python")[1].split("\n## ")[0],
    "composites": (ROOT / "docs" / "composites.md").read_text(),
    "groups": (ROOT / "docs" / "groups.md").read_text(),
    "segments": (ROOT / "docs" / "segments.md").read_text(),
    "tutorial": (ROOT / "docs" / "tutorial.md").read_text(),
    # What is of Thunder runs where that is: in tests/thunder.
    "migration": re.sub(r"## Lightning Thunder\n.*?(?=\n## )", "", (ROOT / "docs" / "migration.md").read_text(), flags=re.S),
}
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n[^\n]*prints[^\n]*\n\n```\n(?P<printed>.*?)```)?", re.S)


WRITTEN = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").glob("*.md")})


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_lines_end_before_the_margin(page):
    if page.name == "ops.md":  # generated, a line for each thing that is said of an op
        return
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    assert not [line for line in text.splitlines() if len(line) >= 120 and not line.startswith(("|", "#"))]


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_true(page, capsys):
    names = {}
    blocks = list(BLOCK.finditer(PAGES[page]))
    assert blocks
    for block in blocks:
        exec(compile(block["code"], page, "exec"), names)
        printed = capsys.readouterr().out
        assert printed == (block["printed"] or ""), block["code"]
