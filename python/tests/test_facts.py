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
    assert f"RuntimeWarning: {facts} holds no facts of a machine: missing field" in done.stderr
    assert "`ferrofuse bench --calibrate` measures them anew" in done.stderr


def test_without_a_file_nothing_is_said(tmp_path):
    environment = {**os.environ, "FERROFUSE_FACTS": str(tmp_path / "facts.json")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[1. 1. 1.]\n", "")


def test_the_warning_waits_for_nothing(tmp_path):
    """What shows it may itself ask for the machine, on this thread or another."""
    (tmp_path / "facts.json").write_text("{}")
    program = """
import threading, time, warnings
import numpy as np
import ferrofuse

def show(*what, **more):
    time.sleep(0.2)
    print(ferrofuse.get_num_threads() > 0)

warnings.showwarning = show
add = ferrofuse.fuse(lambda x: x + 1)
thread = threading.Thread(target=add, args=(np.zeros(3, np.float32),))
thread.start()
time.sleep(0.1)
print(ferrofuse.get_num_threads() > 0)
thread.join()
"""
    environment = {**os.environ, "FERROFUSE_FACTS": str(tmp_path / "facts.json")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "True\nTrue\n", done.stderr


def test_a_file_that_never_ends_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "facts.json")
    environment = {**os.environ, "FERROFUSE_FACTS": str(tmp_path / "facts.json")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[1. 1. 1.]\n" and "it is no regular file" in done.stderr, done.stderr


def test_empty_variables_count_as_unset(tmp_path):
    names = ("FERROFUSE_TARGET", "FERROFUSE_LIBLLVM", "FERROFUSE_FACTS", "FERROFUSE_CACHE")
    environment = {**os.environ, **dict.fromkeys(names, ""), "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[1. 1. 1.]\n", "")
