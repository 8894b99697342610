"""Tracebacks end in the user's line, and errors of calls name the file and the line of the definition."""

import os
import pickle
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest

import ferrofuse

DEFINED = """\
import numpy as np
import ferrofuse
from ferrofuse import DataType, FusionDefinition

with FusionDefinition() as fd:
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.index_select(x, index, 0))

ones = np.ones(4, np.float32)
"""

# A line of the user's, and what is shown below the heading.
SHOWN = {
    "fd.execute([ones])": """\
          File "model.py", line 11, in <module>
            fd.execute([ones])
        ferrofuse.InputError: expected 2 inputs, got 1
    """,
    "fd.execute([ones, np.array([4])])": """\
          File "model.py", line 11, in <module>
            fd.execute([ones, np.array([4])])
        ferrofuse.OutOfRangeError: model.py:8: `index_select`: index 4 is out of range for axis 0 of size 4
    """,
    "fd.execute([ones, ones])": """\
          File "model.py", line 11, in <module>
            fd.execute([ones, ones])
        ferrofuse.InputError: input 1 (model.py:7): expected dtype i64, got f32; cast the array to int64, or declare the \
input with DataType.Float; in nvFuser's words: Expected input 1, T1_g_int64_t[iS1{i2}], to be bound to a tensor of dtype int64_t, \
but got a tensor of dtype float
    """,
    "fd.execute([ones], out=[], like='numpy')": """\
          File "model.py", line 11, in <module>
            fd.execute([ones], out=[], like='numpy')
        ValueError: outputs are the arrays of `out`: give out or like, not both
    """,
    "fd.ops.mull": """\
          File "model.py", line 11, in <module>
            fd.ops.mull
        AttributeError: there is no op `mull`; did you mean `mul`?
    """,
    "fd.define_tensor(shape=[-1])": """\
          File "model.py", line 11, in <module>
            fd.define_tensor(shape=[-1])
        ferrofuse.DefinitionError: model.py:11: `define_tensor` is called outside of `with fd:`, where a definition is made
    """,
    "len(x)": """\
          File "model.py", line 11, in <module>
            len(x)
        ferrofuse.ArgumentError: model.py:11: `len` is not supported on a tensor of a definition: its size is known only \
when the definition runs; use x.size(0), a scalar of the definition
    """,
    "x + x": """\
          File "model.py", line 11, in <module>
            x + x
        ferrofuse.DefinitionError: model.py:11: `add` is called outside of `with fd:`, where a definition is made
    """,
    "with fd: fd.group('a', device='nope').__enter__()": """\
          File "model.py", line 11, in <module>
            with fd: fd.group('a', device='nope').__enter__()
        ferrofuse.DefinitionError: model.py:11: `group`: argument `device` must be "cpu", "cuda" or "cuda:N", but is "nope"
    """,
    "fd.sched.split(1)": """\
          File "model.py", line 11, in <module>
            fd.sched.split(1)
        NotImplementedError: `fd.sched.split` is not supported: loops are chosen by the compiler: fd.explain() tells how it chose; \
fd.segments[0].schedule and `ferrofuse run --schedule SEGMENT=FILE` take a schedule by hand, as text
    """,
    "fd.segments = 1": """\
          File "model.py", line 11, in <module>
            fd.segments = 1
        AttributeError: property 'segments' of 'FusionDefinition' object has no setter
    """,
    "fd.peak_memory = -1": """\
          File "model.py", line 11, in <module>
            fd.peak_memory = -1
        ValueError: peak_memory: expected a number of bytes, not -1
    """,
    "ferrofuse.fuse(lambda y: y.sum(axis=3))(ones)": """\
          File "model.py", line 11, in <module>
            ferrofuse.fuse(lambda y: y.sum(axis=3))(ones)
          File "model.py", line 11, in <lambda>
            ferrofuse.fuse(lambda y: y.sum(axis=3))(ones)
        ferrofuse.DefinitionError: model.py:11: `sum`: argument `dims` must be axes, 0 or -1, as the tensor has one, each once, but is [3]
    """,
}


def shown(folder, line, **environment):
    """What Python writes of the error of a line of `model.py`, without the marks under it."""
    (folder / "model.py").write_text(DEFINED + line + "\n")
    inherited = {name: value for name, value in os.environ.items() if name != "FERROFUSE_TRACEBACK"}
    environment = {**inherited, **environment}
    ran = subprocess.run([sys.executable, "model.py"], cwd=folder, env=environment, capture_output=True, text=True)
    return "".join(each for each in ran.stderr.splitlines(True) if set(each.strip()) - set("^~"))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="earlier versions keep the traceback that was caught")
@pytest.mark.parametrize("line", SHOWN)
def test_tracebacks_end_in_the_users_line(line, tmp_path):
    heading, _, rest = shown(tmp_path, line).partition("\n")
    assert heading == "Traceback (most recent call last):"
    assert rest.replace(f"{tmp_path}{os.sep}", "") == textwrap.dedent(SHOWN[line])


def test_the_environment_keeps_the_packages_frames(tmp_path):
    text = shown(tmp_path, "fd.execute([ones])", FERROFUSE_TRACEBACK="full")
    assert "definition.py\", line" in text and text.endswith("ferrofuse.InputError: expected 2 inputs, got 1\n")


def test_public_functions_are_found_by_name():
    for name in ferrofuse.__all__:
        function = getattr(ferrofuse, name)
        if isinstance(function, types.FunctionType):
            assert pickle.loads(pickle.dumps(function)) is function, name


def test_code_without_lines_and_files_that_are_no_text(tmp_path):
    source = "with FusionDefinition() as fd:\n    fd.add_output(fd.define_tensor(shape=[-1]) + 1)\n"
    code = compile(source, b"d\xff/m.py", "exec")
    exec(code.replace(co_linetable=b""), {"FusionDefinition": ferrofuse.FusionDefinition})
    exec(code, {"FusionDefinition": ferrofuse.FusionDefinition})


def test_lines_of_a_text_stay_when_more_is_defined():
    with ferrofuse.FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=ferrofuse.DataType.Float)
        index = fd.define_tensor(shape=[-1], contiguity=True, dtype=ferrofuse.DataType.Int)
        fd.add_output(fd.ops.index_select(x, index, 0))
    again = pickle.loads(pickle.dumps(fd))
    arrays = [np.ones(4, np.float32), np.array([9])]
    with pytest.raises(ferrofuse.OutOfRangeError, match=r"^line \d: `index_select`") as raised:
        again.execute(arrays)
    with again:
        again.define_scalar(1.0)
    with pytest.raises(ferrofuse.OutOfRangeError) as later:
        again.execute(arrays)
    assert (str(later.value), later.value.line) == (str(raised.value), raised.value.line)
