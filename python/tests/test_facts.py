"""What `ferrofuse bench --calibrate` keeps is read once; a file that holds something else is told."""

import os
import subprocess
import sys

PROGRAM = """
import numpy as np
import ferrofuse

print(ferrofuse.fuse(lambda x: x + 1)(np.zeros(3, np.float32)))
"""


def test_a_file_of_something_else_is_warned_of(tmp_path):
    facts = tmp_path / "facts.json"
    facts.write_text('{"cpu": "znver4"}')
    environment = {**os.environ, "FERROFUSE_FACTS": str(facts)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.stdout == "[1. 1. 1.]\n", done.stderr
    assert f"UserWarning: {facts} holds no facts of a machine: missing field" in done.stderr
    assert "`ferrofuse bench --calibrate` measures them anew" in done.stderr


def test_without_a_file_nothing_is_said(tmp_path):
    environment = {**os.environ, "FERROFUSE_FACTS": str(tmp_path / "facts.json")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[1. 1. 1.]\n", "")
