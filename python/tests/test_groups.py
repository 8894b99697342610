"""Groups of ops in the user's hands: kept by the segmentation, shown, printed, rejected by name and line."""

import inspect
import json
import pickle
import re

import numpy as np
import pytest

from ferrofuse import ArgumentError, DataType, DefinitionError, FusionDefinition


def here():
    return inspect.currentframe().f_back.f_lineno


def rows(fd):
    return fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)


def pipeline() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("norm", stay=True, device="cuda:1"):
            y = x - fd.ops.mean(x, dims=[1], keepdim=True)
            with fd.group("scale"):
                y = fd.ops.exp(y)
        with fd.group("tail", stream=2):
            z = fd.ops.neg(y)
        fd.add_output(z)
    return fd


def test_groups_print_as_they_were_opened():
    assert [line for line in repr(pipeline()).splitlines() if "group" in line] == [
        '    with fd.group("norm", stay=True, device="cuda:1"):',
        '        with fd.group("scale"):',
        '    with fd.group("tail", stream=2):',
    ]
    namespace = {"DataType": DataType, "FusionDefinition": FusionDefinition}
    exec(repr(pipeline()), namespace)
    with FusionDefinition() as again:
        namespace["nvfuser_fusion"](again)
    assert repr(again) == repr(pipeline())


def test_a_group_outside_of_a_definition_is_rejected():
    fd = pipeline()
    with pytest.raises(DefinitionError, match="`group` is called outside of `with fd:`"):
        with fd.group("late"):
            pass


def test_a_segment_has_one_device_and_stream():
    fd = pipeline()
    first, second = fd.segment()
    assert [(segment.device, segment.stream) for segment in (first, second)] == [("cuda:1", None), (None, 2)]
    assert first.why == "seg0 runs on cuda:1, seg1 on stream 2"
    x = np.random.default_rng(0).standard_normal((5, 7), dtype=np.float32)
    through = fd.execute([x])[0]
    fd.segmentation = None
    np.testing.assert_array_equal(through, fd.execute([x])[0])
    np.testing.assert_allclose(through, -np.exp(x - x.mean(1, keepdims=True)), rtol=1e-5)


def test_an_explanation_shows_groups():
    explained = pipeline().explain()
    assert "group norm (stays in one segment, device cuda:1): in seg0" in str(explained)
    assert "group tail (stream 2): in seg1" in str(explained)
    assert explained.to_dict()["groups"][1] == {
        "name": "scale",
        "parent": "norm",
        "stay": False,
        "device": "cuda:1",
        "segments": ["seg0"],
    }
    json.dumps(explained.to_dict())


def test_a_group_that_no_kernel_computes_is_rejected_with_the_line():
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("norm", stay=True):
            line = here() + 1
            y = x * fd.ops.sum(x, dims=[1], keepdim=True)
            columns = fd.ops.sum(y, dims=[0], keepdim=True)
            fd.add_output(y * columns)
    what = f"group `norm` cannot stay in one segment: in one kernel `sum` at test_groups.py:{line} leaves no axis that workers"
    for attempt in (lambda: fd.execute([np.ones((3, 4), np.float32)]), fd.explain, fd.segment):
        with pytest.raises(RuntimeError) as raised:
            attempt()
        assert str(raised.value) == f"{what} could divide"


LIBRARY = "is computed by argsort, which a library runs"
SCAN = "is a scan along another axis than one before it"
WORKERS = "leaves no axis that workers could divide"
BOUNDARY = "is a boundary that the definition asks for"


@pytest.mark.parametrize(
    "name, reason, define",
    [
        ("argsort", LIBRARY, lambda fd, x: fd.ops.add(fd.ops.argsort(x, 1), 1)),
        ("cumsum", SCAN, lambda fd, x: fd.ops.cumsum(fd.ops.cumsum(x, 1), 0)),
        ("sum", WORKERS, lambda fd, x: fd.ops.cumsum(fd.ops.mul(x, fd.ops.sum(x, dims=[0, 1], keepdim=True)), 1)),
        ("segment_set", BOUNDARY, lambda fd, x: fd.ops.exp(fd.ops.segment_set(fd.ops.neg(x)))),
    ],
)
def test_a_group_that_only_the_evaluator_could_compute_in_one_segment_is_rejected(name, reason, define):
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("norm", stay=True):
            y = define(fd, x)
        fd.add_output(y)
    for attempt in (lambda: fd.execute([np.ones((3, 4), np.float32)]), fd.explain, fd.segment, fd.setup_segmentation):
        with pytest.raises(RuntimeError) as raised:
            attempt()
        said = re.sub(r"at test_groups\.py:\d+ ", "", str(raised.value))
        assert said == f"group `norm` cannot stay in one segment: in one kernel `{name}` {reason}"
    assert fd.segments == []


def test_a_group_of_a_library_alone_stays():
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("norm", stay=True):
            y = fd.ops.argsort(x, 1)
        fd.add_output(fd.ops.add(y, 1))
    assert [segment.outputs for segment in fd.segment()] == [["tv1"], ["tv2"]]


def test_a_group_that_values_leave_and_come_back_to_is_rejected():
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("norm", stay=True):
            a = here() + 1
            total = fd.ops.sum(x, dims=[1], keepdim=True)
        b = here() + 1
        y = fd.ops.exp(total)
        with fd.group("norm", stay=True):
            fd.add_output(total + y)
    with pytest.raises(DefinitionError) as raised:
        fd.explain()
    assert str(raised.value) == (
        f"`group` needs ops that can run one after the other, but has `norm`: `exp` at test_groups.py:{b} is outside of it, needs "
        f"`sum` at test_groups.py:{a} of it, and is needed in it; write what lies between inside of the group too, or leave out stay=True"
    )


def test_arguments_are_rejected_where_the_group_is_opened():
    with FusionDefinition() as fd:
        rows(fd)
        with pytest.raises(DefinitionError) as raised:
            line = here() + 1
            with fd.group("far", device="gpu"):
                raise AssertionError("opened")
        assert (raised.value.op, raised.value.argument, raised.value.line) == ("group", "device", line)
        with pytest.raises(ArgumentError, match="argument `name` must be a name in quotes, but is the number 3"):
            with fd.group(3):
                raise AssertionError("opened")
        with pytest.raises(DefinitionError, match="argument `stream` must be the number of a stream, from 0 on"):
            with fd.group("far", stream=-2):
                raise AssertionError("opened")
        with fd.group("far", stay=True):
            pass
        with pytest.raises(DefinitionError, match="must be a new one, as `far` was opened with stay=True"):
            with fd.group("far"):
                raise AssertionError("opened")


def test_an_exception_closes_its_group():
    with FusionDefinition() as fd:
        x = rows(fd)
        with pytest.raises(ZeroDivisionError):
            with fd.group("broken"):
                1 / 0
        fd.add_output(fd.ops.exp(x))
    assert "group" not in repr(fd)


def test_segmentations_by_hand_keep_groups():
    fd = pipeline()
    with pytest.raises(DefinitionError) as raised:
        fd.segmentation = "segment whole -> tv4\n"
    assert str(raised.value) == (
        "whole computes ops for cuda:1 and ops for stream 2; a segment has one device and one stream"
    )
    assert fd.segments == [] and fd.segmentation is None


def test_a_tensor_tells_its_tasks():
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("outer"):
            with fd.group("far", device="cuda:1"):
                y = fd.ops.softmax(x, dim=1)
            z = fd.ops.neg(y)
        fd.add_output(z)
    told = {(task.kind, task.name, task.role, task.parent) for task in y.tasks()}
    assert told == {
        ("pattern", "softmax", "defines", None),
        ("group", "outer", "computes", None),
        ("group", "far", "defines", "outer"),
        ("segment", "seg0", "defines", None),
        ("segment", "seg1", "uses", None),
    }
    assert [(task.kind, task.role) for task in z.tasks()] == [("group", "defines"), ("segment", "defines")]


def moved(fd, x, kind):
    return fd.ops.permute(x, dims=[1, 0]) if kind == "permute" else fd.ops.reshape(x, [-1])


@pytest.mark.parametrize("kind", ["permute", "reshape"])
@pytest.mark.parametrize("is_inside", [True, False])
@pytest.mark.parametrize("options", [{"stay": True}, {"device": "cuda:1"}, {"stream": 1}])
def test_views_run_nothing_and_so_break_no_group(options, is_inside, kind):
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("g", **options):
            y = fd.ops.exp(x)
            views = [moved(fd, each, kind) for each in (x, y) if is_inside]
        for output in [y, *(views or [moved(fd, each, kind) for each in (x, y)])]:
            fd.add_output(output)
    fd.segment()
    loaded = pickle.loads(pickle.dumps(fd))
    assert loaded.explain().to_dict()["groups"] == fd.explain().to_dict()["groups"]
    if "device" not in options:
        ones = np.ones((2, 3), np.float32)
        for ours, theirs in zip(fd.execute([ones]), loaded.execute([ones])):
            np.testing.assert_array_equal(ours, theirs)


def test_a_group_without_ops_of_its_own_says_so():
    with FusionDefinition() as fd:
        x = rows(fd)
        with fd.group("a", stream=1):
            y = fd.ops.exp(x)
        with fd.group("b", stream=2):
            z = fd.ops.exp(x)
        fd.add_output(fd.ops.add(y, z))
    first, second = fd.explain().to_dict()["groups"]
    assert first["segments"] and not second["segments"] and second["stream"] == 2
    assert second["dropped"] == "it has no ops of its own: equal ops are in the group of the first"
