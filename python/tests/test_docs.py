"""The Python of the pages does what they say: each block runs after those before it, and prints what follows `prints`."""

import re
import runpy
from pathlib import Path

import pytest

import stand_in  # noqa: F401  what runs on a GPU runs there

ROOT = Path(__file__).parents[2]
PAGES = {
    "README": (ROOT / "README.md").read_text().split("## From Python")[1].split("\n## ")[0],
    "composites": (ROOT / "docs" / "composites.md").read_text(),
    "cuda": (ROOT / "docs" / "cuda.md").read_text(),
    "fuse": (ROOT / "docs" / "fuse.md").read_text(),
    "groups": (ROOT / "docs" / "groups.md").read_text(),
    "segments": (ROOT / "docs" / "segments.md").read_text(),
    "tutorial": (ROOT / "docs" / "tutorial.md").read_text(),
    # What is of Thunder runs where that is: in tests/thunder.
    "migration": re.sub(r"## Lightning Thunder\n.*?(?=\n## )", "", (ROOT / "docs" / "migration.md").read_text(), flags=re.S),
}
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n[^\n]*prints[^\n]*\n\n```(?:text)?\n(?P<printed>.*?)```)?", re.S)


WRITTEN = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")})


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_lines_end_before_the_margin(page):
    if page.name in ("ops.md", "errors.md"):  # generated, a line for each thing that is said of an op
        return
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    assert not [line for line in text.splitlines() if len(line) >= 120 and not line.startswith(("|", "#"))]


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_true(page, capsys):
    names = {}
    blocks = list(BLOCK.finditer(PAGES[page]))
    assert blocks
    for block in blocks:
        exec(compile(block["code"], f"{page}.py", "exec"), names)
        printed = capsys.readouterr().out
        assert printed == (block["printed"] or ""), block["code"]


def test_the_chart_is_that_of_the_table():
    chart = runpy.run_path(str(ROOT / "bench" / "peer_chart.py"))
    rows = chart["rows"]((ROOT / "bench" / "RESULTS.md").read_text(), "kept")
    assert len(rows) == 14
    drawn = "\n".join(chart["svg"](rows))
    assert (ROOT / "docs" / "peers.svg").read_text() == drawn, "run bench/peer_chart.py"


def test_a_peer_that_is_faster_is_left_of_one():
    chart = runpy.run_path(str(ROOT / "bench" / "peer_chart.py"))
    line = "sum_outer_f32    8x64    kept    0.6      0.004      0.002      0.016      0.004      0.500"
    ((name, times),) = chart["rows"](f"{line}\nanother line\n", "kept")
    assert (name, times) == ("sum_outer_f32", {"inductor": 0.5, "eager": 4.0, "jax": 1.0})
    drawn = "\n".join(chart["svg"]([(name, times)]))
    left, one = re.search(r'<circle class="inductor" cx="([\d.]+)" cy="7', drawn), re.search(r'class="one" x1="(\d+)"', drawn)
    assert float(left[1]) < int(one[1])
