"""Explanations show themselves: as text, a picture, a page; so do definitions and segments."""

import copy
import pickle
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition


def two_segments() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        with fd.group("far", device="cuda:1"):
            y = fd.ops.exp(x)
        fd.add_output(fd.ops.sum(y, dims=[1]))
    return fd


def test_a_definition_shows_itself_as_a_picture_and_a_page():
    fd = two_segments()
    explained = fd.explain()
    picture = xml.fromstring(explained.to_svg())
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"tv0", "seg0: 1 op", "tv1", "seg1: 1 op", "tv2"} <= set(texts)
    assert fd.to_svg() == fd._repr_svg_() == explained._repr_svg_() == explained.to_svg()
    page = fd.to_html(title="a < b")
    assert page == explained.to_html("a < b") and page.startswith("<!doctype html>") and "<h1>a &lt; b</h1>" in page
    part = fd._repr_html_()
    assert part == explained._repr_html_() and part.startswith('<div class="ffpage">') and "<script" not in part


def test_a_picture_counts_with_the_sizes_of_inputs():
    fd = two_segments()
    x = np.ones((8, 16), np.float32)
    assert "512 B" in fd.to_svg([x]) and "assumed" not in fd.explain([x]).to_dict()
    assert "4.0 MiB" in fd.to_svg() and fd.explain().to_dict()["assumed"] == {"i0": 1024, "i1": 1024}
    assert "sizes that are not given count as i0 = 1024, i1 = 1024" in str(fd.explain())


def test_an_explanation_is_of_the_plan_that_a_call_makes():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.sum(x, dims=[1]))
    assert "decided_for" not in fd.explain().to_dict()
    assert fd.explain([np.ones((4096, 1024), np.float32)]).to_dict().get("decided_for") is None
    explained = fd.explain([np.ones((3, 1000), np.float32)])
    assert explained.to_dict()["decided_for"] == {"i0": 4, "i1": 4} and explained.to_dict()["bytes"] == 4 * 3 * 1001
    assert "planned for i0 = 4, i1 = 4: other calls share the plan" in str(explained)
    rows = [fd.explain([np.ones((4096, 1000), np.float32)]), fd.explain([np.ones((1000, 4096), np.float32).T])]
    dense, transposed = (explained.to_dict()["segments"][0]["schedule"] for explained in rows)
    assert dense != transposed


def test_segments_show_themselves():
    first, second = two_segments().segment()
    assert first.to_svg() == first.definition.to_svg() == first._repr_svg_()
    assert "<h1>seg1</h1>" in second.to_html() and second._repr_html_() == second.definition._repr_html_()


def test_an_explanation_is_of_the_segmentation_by_hand():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        y = fd.ops.exp(x)
        z = fd.ops.neg(y)
        fd.add_output(z)
    assert len(fd.explain().to_dict()["segments"]) == 1
    fd.segmentation = [[y], [z]]
    assert len(fd.explain().to_dict()["segments"]) == 2
    fd.segmentation = None
    assert len(fd.explain().to_dict()["segments"]) == 1


SCHEDULE = "schedule lanes 16\nblock x0 by 1\ninner x1\nlane x1\n"


def test_an_explanation_has_the_schedule_by_hand():
    fd = two_segments()
    x = np.ones((8, 16), np.float32)
    first, second = fd.segment()
    before = fd.explain([x])
    second.schedule = SCHEDULE
    explained = fd.explain([x])
    [automatic, kept], [by_hand, changed] = ([each["schedule"] for each in e.to_dict()["segments"]] for e in (before, explained))
    assert (automatic, changed) == (by_hand, SCHEDULE) and kept != SCHEDULE
    told, was = (dict(each.to_dict()["segments"][1], schedule=None, cost_us=None) for each in (explained, before))
    assert told == was
    assert explained.to_dict()["edges"] == before.to_dict()["edges"] and "gap" not in explained.to_dict()
    assert "lane x1" in fd.to_html([x]) and fd.to_svg([x]) == explained.to_svg()
    second.schedule = None
    assert fd.explain([x]).to_dict()["segments"] == before.to_dict()["segments"]


def test_an_explanation_has_the_definition_by_hand():
    fd = two_segments()
    x = np.ones((8, 16), np.float32)
    _, second = fd.segment()
    before = fd.explain([x]).to_dict()
    with FusionDefinition() as other:
        a = other.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        other.add_output(other.ops.max(other.ops.segment_set(other.ops.neg(a)), dims=[1]))
    second.definition = other
    explained = fd.explain([x])
    told = explained.to_dict()
    assert [segment["name"] for segment in told["segments"]] == ["seg0", "seg1.seg0", "seg1.seg1"]
    negated, largest = (segment["operations"] for segment in told["segments"][1:])
    assert negated[0] == "seg1.tv1 = neg (tv1) : f32[i0, i1]" and largest[0].startswith("tv2 = fold max")
    assert told["segments"][1]["bytes"] == 2 * 4 * 8 * 16 and told["segments"][1]["bytes_formula"] == "8*i0*i1"
    assert [(edge["from"], edge["to"]) for edge in told["edges"]] == [("seg0", "seg1.seg0"), ("seg1.seg0", "seg1.seg1")]
    assert told["bytes"] == before["bytes"] + 2 * 4 * 8 * 16
    assert "seg1.tv1 = neg" in explained.to_html() and "seg1.seg1" in explained.to_svg() and "seg1.seg1" in str(explained)
    fd.segmentation = None
    assert fd.explain([x]).to_dict()["segments"] == before["segments"]


@pytest.mark.parametrize("example", ["nanogpt_attention", "reduction_broadcast_add", "layer_norm_backward"])
def test_values_keep_their_names_where_a_schedule_is_by_hand(example):
    fd = FusionDefinition.load(Path(__file__).parents[2] / "examples" / f"{example}.py")
    segments = fd.segment()
    before = fd.explain().to_dict()
    for segment in segments:
        alone = segment.definition.explain().to_dict()["segments"]
        segment.schedule = alone[0].get("schedule") if len(alone) == 1 else None
    assert any(segment.schedule for segment in segments)
    explained = fd.explain().to_dict()
    assert explained["edges"] == before["edges"] and explained.get("patterns") == before.get("patterns")
    for told, was in zip(explained["segments"], before["segments"]):
        assert [told[key] for key in ("name", "recomputed", "saved")] == [was[key] for key in ("name", "recomputed", "saved")]
        names = {key: {each["name"] for each in told[key]} for key in ("inputs", "outputs")}
        assert {each["name"] for each in was["inputs"]} <= names["inputs"]
        # Another form of a segment may write what an output is a view of, which has its name in the whole too.
        assert len(was["outputs"]) == len(told["outputs"]) and not any("." in name for name in names["outputs"])


def test_explanations_are_copied_and_pickled():
    explained = two_segments().explain(against="greedy")
    for other in (copy.copy(explained), copy.deepcopy(explained), pickle.loads(pickle.dumps(explained))):
        assert str(other) == str(explained) and other.to_dict() == explained.to_dict()
        assert other.to_svg() == explained.to_svg() and other.to_html() == explained.to_html()
    assert 0.0 < explained.to_dict()["search_ms"] < 60e3


@pytest.mark.parametrize(
    "by_hand, words",
    [
        (5, r"segmentation: expected a list for each segment of the tensors that it makes, not 5"),
        ([["tv1"], "tv2"], r"segmentation\[1\]: expected a list of tensors or of their names, not 'tv2'"),
        ([["tv1", 2]], r"segmentation\[0\]\[1\]: expected a tensor or its name, not 2"),
    ],
)
def test_wrong_segmentations_name_the_element(by_hand, words):
    with pytest.raises(TypeError, match=f"^{words}$"):
        two_segments().segmentation = by_hand


def test_a_segment_makes_something():
    with pytest.raises(ValueError, match=r"^segmentation\[1\]: a segment must make at least one tensor$"):
        two_segments().segmentation = [["tv1"], []]


def test_wrong_kinds_are_named():
    fd = two_segments()
    with pytest.raises(TypeError, match='^against: expected "greedy", "unfused", a definition or an explanation, not 5$'):
        fd.explain(against=5)
    segment = fd.segment()[0]
    with pytest.raises(TypeError, match="^seg0.definition: expected a FusionDefinition, not None$"):
        segment.definition = None


def test_an_unfinished_definition_has_no_picture_yet():
    with FusionDefinition() as fd:
        assert fd._repr_svg_() is None and fd._repr_html_() is None


def test_a_comparison_is_in_the_text_and_on_the_page():
    fd = two_segments()
    assert fd.explain(against="greedy").to_html("t").count("<td>greedy</td>") == 1
    assert str(fd.explain(against=fd.explain())).endswith("\nno difference\n")
    with FusionDefinition() as other:
        x = other.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        other.add_output(other.ops.sum(x, dims=[1]))
    text = str(fd.explain(against=other))
    assert text.startswith(str(fd.explain())) and "only in this: a segment that writes tv2" in text
    with pytest.raises(ValueError, match="`against` is \"greedy\", \"unfused\", a definition or an explanation, not \"best\""):
        fd.explain(against="best")


def test_a_baseline_has_no_views_of_inputs_and_no_limit_on_memory():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.permute(x, [1, 0]))
        fd.add_output(fd.ops.exp(x))
    assert str(fd.explain(against="unfused")).endswith("\nno difference\n")
    with FusionDefinition() as limited:
        x = limited.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        limited.add_output(limited.ops.sum(limited.ops.exp(x), dims=[0, 1]))
    limited.peak_memory = 4096
    x = np.ones((64, 64), np.float32)
    assert "only in unfused: a segment that writes tv1" in str(limited.explain([x], against="unfused"))
