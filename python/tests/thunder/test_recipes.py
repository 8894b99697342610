"""The recipes of docs/migration.md for Thunder: each block runs after those before it, and prints what follows it."""

import re
from pathlib import Path

import ferrofuse.compat

PAGE = (Path(__file__).parents[3] / "docs" / "migration.md").read_text()
SECTION = re.search(r"## Lightning Thunder\n(.*?)\n## ", PAGE, re.S)[1]
BLOCK = re.compile(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", re.S)


def test_recipes_are_true(capsys):
    blocks = BLOCK.findall(SECTION)
    assert len(blocks) == SECTION.count("```python") == 2
    names = {}
    ferrofuse.compat.uninstall()
    for code, printed in blocks:
        exec(compile(code, "migration.md", "exec"), names)
        assert capsys.readouterr().out == printed
