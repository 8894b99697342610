"""`FERROFUSE_TARGET` chooses the CPU that kernels are made for."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import ferrofuse

double = ferrofuse.fuse(lambda x: x * 2)
ones = np.ones(3, np.float32)
print(double(ones))
print(double.lower(ones, stage="kernel").splitlines()[1])
"""


def run(target):
    environment = {**os.environ, "FERROFUSE_TARGET": target, "FERROFUSE_FACTS": "none"}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the target is an x86 CPU")
def test_kernels_are_made_for_the_target():
    done = run("x86-64")
    result, kernel = done.stdout.splitlines()
    assert result == "[2. 2. 2.]", done.stderr
    # Two registers of four f32.
    assert kernel.endswith("lanes 8 {")


def test_a_cpu_of_another_kind_is_rejected():
    foreign = "x86-64" if platform.machine() == "aarch64" else "aarch64"
    done = run(foreign)
    assert done.returncode == 1
    assert f"this machine cannot run code for {foreign}" in done.stderr


def test_an_unknown_name_is_rejected_when_the_package_is_imported():
    done = run("avx3")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ValueError: FERROFUSE_TARGET: unknown CPU `avx3`; known are host, x86-64, avx2, avx512, aarch64"
    )
