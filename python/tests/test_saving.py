"""Definitions copied, pickled, saved and loaded: with segments and schedules, and what is rejected."""

import copy
import os
import pickle
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

import ferrofuse
from ferrofuse import DataType, DefinitionError, FusionDefinition

EXAMPLES = Path(__file__).parents[2] / "examples"
A = np.random.default_rng(6).standard_normal((6, 10)).astype(np.float32)


@pytest.fixture
def fd():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        y = fd.ops.exp(x)
        fd.add_output(y)
        fd.add_output(fd.ops.sum(y, dims=[1]))
    return fd


def through_a_file(fd, folder):
    fd.save(folder / "saved.py")
    assert [path.name for path in folder.iterdir()] == ["saved.py"]
    return FusionDefinition.load(folder / "saved.py")


WAYS = {
    "copy": lambda fd, folder: copy.copy(fd),
    "deepcopy": lambda fd, folder: copy.deepcopy(fd),
    "pickle": lambda fd, folder: pickle.loads(pickle.dumps(fd)),
    "file": through_a_file,
}


@pytest.mark.parametrize("way", WAYS)
def test_definition_segments_and_schedules_are_kept(fd, way, tmp_path):
    same = WAYS[way](fd, tmp_path)
    assert repr(same) == repr(fd) and same.segments == [] and same.peak_memory is None
    fd.peak_memory = 1 << 30
    assert WAYS[way](fd, tmp_path).peak_memory == 1 << 30
    fd.peak_memory = None
    fd.segmentation = [["tv1"], ["tv2"]]
    schedule = fd.segments[0].definition.explain().to_dict()["segments"][0]["schedule"]
    fd.segments[0].schedule = schedule
    same = WAYS[way](fd, tmp_path)
    assert repr(same) == repr(fd)
    assert [(each.name, each.outputs) for each in same.segments] == [("seg0", ["tv1"]), ("seg1", ["tv2"])]
    assert [each.schedule for each in same.segments] == [schedule, None]
    for one, other in zip(fd.execute([A]), same.execute([A])):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_random_numbers_go_on(way, is_cut, tmp_path):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.rand_like(x))
        fd.add_output(fd.ops.sum(fd.ops.normal(0.0, 1.0, [3]), dims=[0]))
    if is_cut:
        fd.segment()
    same = WAYS[way](fd, tmp_path)

    def drawn(definition):
        ferrofuse.manual_seed(5)
        return [output for _ in range(2) for output in definition.execute([A])], ferrofuse.get_rng_state()

    (expected, state), (found, same_state) = drawn(fd), drawn(same)
    assert state == same_state and not np.array_equal(expected[0], expected[2])
    for one, other in zip(expected, found):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("way", WAYS)
def test_ops_added_later_draw_other_numbers(way, fd, tmp_path):
    with fd:
        fd.add_output(fd.ops.rand_like(fd.fusion.inputs()[0]))
    same = WAYS[way](fd, tmp_path)
    with same:
        same.add_output(same.ops.rand_like(same.fusion.inputs()[0]))
    *_, first, second = same.execute([A])
    assert not np.array_equal(first, second)


def test_files_are_written_through_symlinks_and_keep_their_modes(fd, tmp_path):
    (tmp_path / "folder").mkdir()
    own, link, dangling = tmp_path / "folder" / "own.py", tmp_path / "link.py", tmp_path / "dangling.py"
    own.write_text("old")
    own.chmod(0o600)
    link.symlink_to(own)
    dangling.symlink_to(tmp_path / "new.py")
    for path in (link, dangling):
        fd.save(path)
        assert path.is_symlink() and repr(FusionDefinition.load(path)) == repr(fd)
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.rglob("*.py")) == ["dangling.py", "link.py", "new.py", "own.py"]
    assert [path.name for path in own.parent.iterdir()] == ["own.py"]


def test_fifos_and_devices_are_written_into(fd, tmp_path):
    fifo, got = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
    reader.start()
    fd.save(fifo)
    reader.join()
    assert stat.S_ISFIFO(fifo.stat().st_mode) and got[0].startswith("# saved by ferrofuse")
    with pytest.raises(OSError, match="No space left on device"):
        fd.save("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_failed_saves_leave_nothing(fd, tmp_path):
    with pytest.raises(FileNotFoundError) as told:
        fd.save(tmp_path / "absent" / "saved.py")
    assert told.value.filename == str(tmp_path / "absent" / "saved.py")
    with pytest.raises(IsADirectoryError):
        fd.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_goes_on_by_itself(fd):
    other = copy.copy(fd)
    with other:
        x = other.fusion.inputs()[0]
        other.add_output(other.ops.neg(x))
    assert len(other.execute([A])) == 3 and len(fd.execute([A])) == 2


def test_an_empty_definition_is_pickled_and_an_unfinished_one_is_not():
    assert repr(pickle.loads(pickle.dumps(FusionDefinition()))) == repr(FusionDefinition())
    with FusionDefinition() as fd:
        fd.define_tensor(shape=[-1], contiguity=True)
    with pytest.raises(DefinitionError, match="only a definition with outputs"):
        pickle.dumps(fd)
    assert copy.copy(fd).validate_definition() == (False, "Fusion is empty!")


BROKEN = {
    "empty": (lambda text: "", "no definition"),
    "no head": (
        lambda text: text.partition("\n")[2],
        "not a saved definition: it does not begin with `# saved by ferrofuse, version 1`",
    ),
    "newer": (lambda text: text.replace("version 1", "version 2"), "a newer ferrofuse: version 2, this one reads up to 1"),
    "cut": (lambda text: text[:-20], "cut short: it does not end with `# ---- end`"),
    "an op": (lambda text: text.replace("exp", "expp"), "`expp` is not an op .*did you mean `exp`"),
    "a section": (lambda text: text.replace("---- segments", "---- segmends"), "line 8: `segmends` is not a known section"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_says_so(fd, what, tmp_path):
    change, words = BROKEN[what]
    path = tmp_path / "saved.py"
    fd.segmentation = [["tv1"], ["tv2"]]
    fd.save(path)
    path.write_text(change(path.read_text()))
    with pytest.raises(DefinitionError, match=f"saved.py: .*{words}"):
        FusionDefinition.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DefinitionError, match="saved.py: not a definition: it is not text"):
        FusionDefinition.load(path)


def test_a_definition_file_is_loaded_as_the_command_line_reads_it(tmp_path):
    softmax = FusionDefinition.load(EXAMPLES / "softmax.py")
    assert "fd.ops.max(tv1, dims=[1], keepdim=True" in repr(softmax)
    path = tmp_path / "softmax.py"
    softmax.save(path)
    assert softmax.fusion == FusionDefinition.load(path).fusion
    assert "fd.ops.fold" in repr(FusionDefinition.load(EXAMPLES.parent / "tests" / "run" / "fold.py"))
    path.write_text("def f(fd):\n    fd.add_output(fd.ops.exp(x))\n")
    with pytest.raises(DefinitionError, match="softmax.py: .*`x`"):
        FusionDefinition.load(path)


def test_segments_that_were_edited_are_not_saved(fd, tmp_path):
    fd.segment()
    with fd.segments[0].definition as definition:
        pass
    fd.save(tmp_path / "saved.py")
    with definition:
        definition.ops.neg(definition.fusion.inputs()[0])
    with pytest.raises(DefinitionError, match="the definition of seg0 was edited"):
        pickle.dumps(fd)


@pytest.mark.parametrize("write", [copy.copy, pickle.dumps, lambda fd: fd.save("saved.py")], ids=["copy", "pickle", "file"])
def test_a_definition_that_changed_since_it_was_cut_is_not_saved(fd, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fd.segment()
    with fd:
        fd.add_output(fd.ops.neg(fd.fusion.inputs()[0]))
    with pytest.raises(DefinitionError, match="^the definition has changed since it was cut into segments: cut it again$"):
        write(fd)
    assert list(tmp_path.iterdir()) == []
    fd.segment()
    write(fd)


def test_names_of_values_do_not_matter_to_saved_segments(tmp_path):
    path = tmp_path / "named.py"
    path.write_text(
        """def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    tv3 = fd.ops.mul(x, 2.0)
    tv2 = fd.ops.sum(tv3, dims=[0])
    tv1 = fd.ops.exp(x)
    fd.add_output(tv2)
    fd.add_output(tv1)
    fd.add_output(tv3)
"""
    )
    fd = FusionDefinition.load(path)
    fd.segmentation = "segment sums -> tv3, tv2\nsegment powers -> tv1\n"
    fd.save(tmp_path / "saved.py")
    for again in (copy.copy(fd), pickle.loads(pickle.dumps(fd)), FusionDefinition.load(tmp_path / "saved.py")):
        assert [segment.name for segment in again.segments] == ["sums", "powers"]
        ops = [[line.split("fd.ops.")[1].split("(")[0] for line in str(segment.definition).splitlines() if "fd.ops." in line] for segment in again.segments]
        assert ops == [["mul", "sum"], ["exp"]]


def test_paths_are_those_of_os(fd, tmp_path):
    fd.save(os.fsencode(tmp_path / "saved.py"))
    assert FusionDefinition.load(tmp_path / "saved.py").execute([A])[0].shape == A.shape
    for path in (1, None):
        with pytest.raises(TypeError, match="expected str, bytes or os.PathLike object, not"):
            fd.save(path)


def test_comments_like_heads_of_sections_are_kept_apart(tmp_path):
    text = "# ---- my section\ndef f(fd):\n    x = fd.define_tensor(shape=[-1], contiguity=True)\n    fd.add_output(x + 1.0)\n"
    (tmp_path / "written.py").write_text(text)
    fd = FusionDefinition.load(tmp_path / "written.py")
    fd.segment()
    fd.save(tmp_path / "saved.py")
    assert str(FusionDefinition.load(tmp_path / "saved.py")) == str(fd)
