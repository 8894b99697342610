"""What is made of the table of ops is as it would be made now."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def generator():
    spec = importlib.util.spec_from_file_location("generate_ops", ROOT / "scripts" / "generate_ops.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_and_reference_are_up_to_date():
    assert not generator().outdated(), "run scripts/generate_ops.py"
