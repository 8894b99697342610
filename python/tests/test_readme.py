"""The Python of the README prints what the README says."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_is_true(capsys):
    section = README.read_text().split("## From Python")[1].split("\n## ")[0]
    [code] = re.findall(r"```python\n(.*?)```", section, re.S)
    [printed] = re.findall(r"prints\n\n```\n(.*?)```", section, re.S)
    exec(code, {})
    assert capsys.readouterr().out == printed
