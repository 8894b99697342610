"""The types pass mypy --strict and pyright on the examples and on a file of their own, and find mistakes; the package passes pyright."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-incremental", "--no-error-summary"],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}


def diagnostics(checker, files, folder):
    """Lines with errors that a checker prints for files."""
    line = [sys.executable, "-m", *CHECKERS[checker], *map(str, files)]
    ended = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False)
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return [line for line in ended.stdout.splitlines() if " error: " in line or "- error" in line]


@pytest.mark.parametrize("checker", CHECKERS)
def test_examples_and_typed_programs_pass(checker, tmp_path):
    for path in EXAMPLES:
        text = path.read_text().replace("from nvfuser_direct import", "from ferrofuse import")
        (tmp_path / path.name).write_text(text)
    (tmp_path / "typed.py").write_text((HERE / "typed.py").read_text())
    assert diagnostics(checker, sorted(tmp_path.glob("*.py")), tmp_path) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_found(checker, tmp_path):
    path = tmp_path / "wrongly_typed.py"
    path.write_text((HERE / "wrongly_typed.py").read_text())
    wrong = {number for number, line in enumerate(path.read_text().splitlines(), 1) if "# wrong" in line}
    found = {int(re.search(r"\.py:(\d+)", line)[1]) for line in diagnostics(checker, [path], tmp_path)}
    assert found == wrong


def test_the_package_passes_pyright():
    assert diagnostics("pyright", [], ROOT) == []
