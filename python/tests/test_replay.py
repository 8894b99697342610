"""`scripts/replay`: equal versions are equal, and a difference is found and printed."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug"
BINARY = BUILT / "ferrofuse"

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="`cargo build` makes the executable")


def replay(*arguments, base=BINARY):
    command = [ROOT / "scripts" / "replay", "--base", base, "--now", BINARY]
    done = subprocess.run([*command, "--programs", BUILT / "examples" / "programs", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_equal_versions_have_no_difference():
    assert replay("--only", "examples/softmax") == (0, "1 definitions, 6 texts each: equal\n", "")


def test_a_renamed_keyword_is_a_difference_unless_it_is_listed(tmp_path):
    renames = tmp_path / "renames"
    renames.write_text("kernel program\n")
    status, out, _ = replay("--only", "examples/softmax", "--renames", renames)
    assert status == 1
    assert out.startswith("examples/softmax.py: kernel for avx2\n--- base\n+++ now\n")
    assert "-program seg0" in out and "+kernel seg0" in out
    older = tmp_path / "older"
    older.write_text(f"#!/bin/sh\n{BINARY} \"$@\" | sed 's/^kernel /program /'\n")
    older.chmod(0o755)
    renames.write_text("program kernel\n")
    assert replay("--only", "examples/softmax", base=older)[0] == 1
    assert replay("--only", "examples/softmax", "--renames", renames, base=older)[0] == 0


def test_a_definition_that_one_version_rejects_is_a_difference(tmp_path):
    older = tmp_path / "older"
    older.write_text("#!/bin/sh\nexit 2\n")
    older.chmod(0o755)
    expected = "examples/softmax.py: schedule for avx2: only the base rejects it\n"
    assert replay("--only", "examples/softmax", base=older)[:2] == (1, expected)


def test_a_name_that_no_definition_has_is_an_error():
    status, _, error = replay("--only", "no such name")
    assert status == 2 and "no definition has `no such name` in its name" in error
