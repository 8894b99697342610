"""What is missing on the machine is warned of, once, at the user's line: libLLVM, and a folder of kept machine code."""

import os
import subprocess
import sys

import pytest

HEAD = """
import numpy as np
import ferrofuse
from ferrofuse import DataType, FusionDefinition

x = np.zeros(3, np.float32)
with FusionDefinition() as fd:
    t = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.exp(t))
"""
CALLS = {
    "execute": "fd.execute([x])",
    "validate": "fd.validate([x])",
    "segments": "fd.segment(); fd.execute([x])",
    "fuse": "ferrofuse.fuse(lambda x: x + 1)(x)",
    "cache": "ferrofuse.FusionExecutorCache(fd.fusion).execute([x])",
}
NOTICE = "RuntimeWarning: running on the evaluator, which is slow: libLLVM was not found (tried none); install it with `apt-get install "


def told(program, tmp_path, *flags, **variables):
    """The errors of a program in a file `user.py`."""
    file = tmp_path / "user.py"
    file.write_text(program)
    environment = {**os.environ, "FERROFUSE_CACHE": "none", **variables}
    return subprocess.run([sys.executable, *flags, str(file)], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("call", CALLS)
def test_a_missing_libllvm_is_warned_of_once(call, tmp_path):
    program = f"{HEAD}{CALLS[call]}\n{CALLS[call]}\nfd.execute([x])\n"
    line = HEAD.count("\n") + 1
    done = told(program, tmp_path, "-W", "always", FERROFUSE_LIBLLVM="none")
    assert done.stderr.count("Warning") == 1 and done.returncode == 0, done.stderr
    assert f"user.py:{line}: {NOTICE}" in done.stderr


def test_the_warning_may_be_an_exception(tmp_path):
    program = f"{HEAD}try:\n    fd.execute([x])\nexcept RuntimeWarning:\n    print(fd.execute([x]))\n"
    done = told(program, tmp_path, "-W", "error", FERROFUSE_LIBLLVM="none")
    assert done.stdout.startswith("[array([1., 1., 1.]"), done.stderr


def test_explanations_say_what_the_evaluator_runs(tmp_path):
    program = HEAD + (
        "for explained in (fd.explain(), fd.explain([x]), (fd.segment(), fd.explain([x]))[1]):\n"
        "    [segment] = explained.to_dict()['segments']\n"
        "    print(segment['evaluator_reason'], 'schedule' in segment, 'gap' in explained.to_dict())\n"
        "    assert 'on the evaluator: libLLVM is missing' in str(explained)\n"
    )
    done = told(program, tmp_path, FERROFUSE_LIBLLVM="none")
    assert done.stdout == "libLLVM is missing False False\n" * 3, done.stderr
    assert done.stderr == ""


def test_an_unusable_cache_is_warned_of(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    folder.chmod(0o777)
    done = told(HEAD + "fd.execute([x])\nfd.execute([x])\n", tmp_path, FERROFUSE_CACHE=str(folder))
    line = HEAD.count("\n") + 1
    assert f"user.py:{line}: RuntimeWarning: compiled kernels are not kept: {folder}: " in done.stderr
    assert done.stderr.count("Warning") == 1
    assert told(HEAD + "fd.execute([x])\n", tmp_path).stderr == ""
