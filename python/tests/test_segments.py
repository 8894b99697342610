"""Segments in the user's hands: definitions of their own, run by hand and through the whole definition; what is rejected."""

import copy
import pickle

import numpy as np
import pytest

import ferrofuse
from ferrofuse import DataType, DefinitionError, FusionDefinition, InputError, Segment


def reduction() -> FusionDefinition:
    """The definition of nvFuser's pull request on building segments, with a boundary behind the broadcast."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
        y = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
        total = fd.ops.broadcast(fd.ops.sum(x, dims=[1]), is_broadcast_dim=[False, True])
        fd.add_output(fd.ops.add(y, fd.ops.segment_set(total)))
    return fd


def softmax() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        powers = fd.ops.exp(x)  # tv1
        total = fd.ops.sum(powers, dims=[1], keepdim=True)  # tv2
        fd.add_output(powers / total)  # tv3
        fd.add_output(total)
    return fd


def arrays(*shapes):
    draw = np.random.default_rng(0)
    return [draw.standard_normal(shape, dtype=np.float32) for shape in shapes]


def by_hand(fd, segments, values):
    for segment in segments:
        made = segment.definition.execute([values[name] for name in segment.inputs])
        values.update(zip(segment.outputs, made))
    return values


def message(raised) -> str:
    return str(raised.value)


def test_segments_are_definitions_with_a_way_back():
    fd = reduction()
    first, second = fd.segment()
    assert isinstance(first, Segment) and fd.segments == [first, second]
    assert [line.strip() for line in repr(second.definition).splitlines()[1:]] == [
        "tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)",
        "tv1 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, is_cpu=False)",
        "tv2 = fd.ops.add(tv0, tv1)",
        "fd.add_output(tv2)",
    ]
    assert (first.index_map, second.index_map) == ({0: 0, 1: 2, 2: 3}, {0: 1, 1: 3, 2: 5})
    assert (first.inputs, first.outputs, second.inputs, second.outputs) == (["tv0"], ["tv4"], ["tv1", "tv4"], ["tv5"])
    assert first.bytes == (None, "4*i0*i1 + 4*i0") and first.recomputed == []
    assert second.why == "in one kernel tv4 is a boundary that the definition asks for"
    assert repr(first) == "<Segment seg0: tv0 -> tv4>"


def test_inputs_give_the_bytes():
    x, y = arrays((4, 8), (4, 8))
    first, _ = reduction().segment([x, y])
    assert first.bytes == (4 * 4 * 8 + 4 * 4, "4*i0*i1 + 4*i0")


def test_by_hand_through_the_definition_and_as_a_whole():
    fd, [x, y] = reduction(), arrays((33, 70), (33, 70))
    [whole] = fd.execute([x, y])
    segments = fd.segment()
    [through] = fd.execute([x, y])
    values = by_hand(fd, segments, {"tv0": x, "tv1": y})
    assert np.array_equal(through, values["tv5"]) and np.array_equal(through, whole)
    fd.validate([x, y])
    fd.segmentation = None
    assert fd.segments == [] and np.array_equal(fd.execute([x, y])[0], whole)


@pytest.mark.parametrize("made", ["segment a -> tv1\nsegment b -> tv3, tv2\n", [["tv3", "tv2"], ["tv1"]]])
def test_a_segmentation_by_hand(made):
    fd, [x] = softmax(), arrays((5, 9))
    whole = fd.execute([x])
    fd.segmentation = made
    assert [segment.outputs for segment in fd.segments] == [["tv1"], ["tv2", "tv3"]]
    names = ["a", "b"] if isinstance(made, str) else ["seg1", "seg0"]
    assert [segment.name for segment in fd.segments] == names
    assert [segment["name"] for segment in fd.explain([x]).to_dict()["segments"]] == names
    assert all(np.array_equal(*pair) for pair in zip(fd.execute([x]), whole))
    assert [segment.outputs for segment in fd.segment([x])] == [["tv1"], ["tv2", "tv3"]]


def test_a_segmentation_by_hand_takes_tensors():
    fd, [x] = softmax(), arrays((5, 9))
    powers, total = fd.fusion.vals()[1:3]
    fd.segmentation = [[powers], [fd.fusion.outputs()[0], total]]
    assert fd.segmentation == "segment seg0 -> tv1\nsegment seg1 -> tv3, tv2\n"
    fd.validate([x])


def test_a_schedule_by_hand():
    fd, [x] = softmax(), arrays((5, 9))
    whole = fd.execute([x])
    [segment] = fd.segment()
    segment.schedule = "schedule lanes 8\nrow x0\ninner x1\n"
    assert all(np.allclose(*pair, rtol=1e-6) for pair in zip(fd.execute([x]), whole))
    with pytest.raises(InputError) as raised:
        segment.schedule = "schedule lanes 8\nrow x7\ninner x1\n"
    assert message(raised) == "the schedule of seg0 does not fit it: the segment has no axis x7"
    with pytest.raises(InputError) as raised:
        segment.schedule = "rows first"
    assert message(raised).startswith("the schedule of seg0: line 1: expected `schedule lanes N [warps N]`, `fuse X Y`, ")
    assert message(raised).endswith(" or `cluster N`, found `rows first`")
    for text, said in [
        ("", "the text is empty: a schedule has at least a line `schedule lanes N`"),
        ("schedule lanes 0\n", "line 1: expected a number of lanes, at least 1, found `schedule lanes 0`"),
        ("schedule lanes 8\njam x0 by 2\njam x0 by 4\n", "line 3: `jam` is chosen in line 2 already"),
    ]:
        with pytest.raises(InputError) as raised:
            segment.schedule = text
        assert message(raised) == f"the schedule of seg0: {said}"
    assert segment.schedule == "schedule lanes 8\nrow x0\ninner x1\n"
    segment.schedule = None
    assert all(np.array_equal(*pair) for pair in zip(fd.execute([x]), whole))


def test_a_schedule_by_hand_is_for_short_rows_too():
    fd, [x] = softmax(), arrays((9000, 3))
    whole = fd.execute([x])
    [segment] = fd.segment()
    segment.schedule = "schedule lanes 8\nrow x0\ninner x1\n"
    assert all(np.allclose(*pair, rtol=1e-6) for pair in zip(fd.execute([x]), whole))


def test_an_edited_segment_runs_in_its_place():
    fd, [x, y] = reduction(), arrays((3, 4), (3, 4))
    [before] = fd.execute([x, y])
    _, second = fd.segment()
    with FusionDefinition() as other:
        a = other.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        b = other.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
        other.add_output((a + b) * 2.0)
    second.definition = other
    assert np.array_equal(fd.execute([x, y])[0], before * 2)


def test_an_edit_that_changes_what_a_segment_gives_is_rejected():
    fd, [x, y] = reduction(), arrays((3, 4), (3, 4))
    [before] = fd.execute([x, y])
    first, second = fd.segment()
    with pytest.raises(DefinitionError) as raised:
        second.definition = first.definition
    kept = "; an edited segment keeps its inputs and outputs"
    assert message(raised) == "seg1: it has 1 inputs and had 2" + kept
    assert np.array_equal(fd.execute([x, y])[0], before)
    with second.definition as edited:
        edited.add_output(edited.ops.neg(edited.fusion.inputs()[0]))
    with pytest.raises(DefinitionError) as raised:
        fd.execute([x, y])
    assert message(raised) == "seg1: it has 2 outputs and had 1" + kept


@pytest.mark.parametrize(
    "by_hand, said",
    [
        ("segment a -> tv2\n", "no segment makes the output `tv3`"),
        ([["tv2"], ["tv9"]], "segmentation[1][0]: the definition has no value `tv9`, or does not compute it"),
        ([["tv1"], ["tv1", "tv2", "tv3"]], "segmentation[1][0]: `tv1` is made by segmentation[0] already"),
        ("# one\nsegment a -> tv1\nsegment b -> tv1, tv2, tv3", "line 3: `tv1` is made by line 2 already"),
        ("tv1, tv2", "line 1: expected `segment NAME -> VALUE, VALUE…`, found `tv1, tv2`"),
        (
            [["tv1", "tv3"], ["tv2"]],
            "the segments wait for each other: seg0 needs `tv2` of seg1, seg1 needs `tv1` of seg0",
        ),
    ],
)
def test_segmentations_that_cannot_be(by_hand, said):
    fd, [x] = softmax(), arrays((5, 9))
    fd.segmentation = [["tv1"], ["tv2", "tv3"]]
    before = fd.segments
    with pytest.raises(DefinitionError) as raised:
        fd.segmentation = by_hand
    assert message(raised) == said
    assert fd.segments == before and fd.segmentation == "segment seg0 -> tv1\nsegment seg1 -> tv2, tv3\n"
    fd.validate([x])


def test_equal_values_are_rejected_by_the_names_that_were_given():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        y, z, w = fd.ops.neg(x), fd.ops.neg(x), fd.ops.exp(x)
        for output in (y, z, w):
            fd.add_output(output)
    for by_hand, said in [
        ([[w], [y], [z]], "segmentation[2][0]: `tv2` is equal to `tv1`, which segmentation[1] makes"),
        ("segment a -> tv3\n\nsegment b -> tv2, tv1", "line 3: `tv1` is equal to `tv2`, which line 3 makes"),
    ]:
        with pytest.raises(DefinitionError) as raised:
            fd.segmentation = by_hand
        assert message(raised) == said


def test_the_three_steps_of_nvfuser():
    fd = reduction()
    with pytest.raises(DefinitionError) as raised:
        fd.build_segment(0)
    assert message(raised) == "no segmentation is set up: call fd.setup_segmentation() first"
    assert fd.setup_segmentation() == fd.setupSegmentation() == 2
    definition, index_map = fd.build_segment(1)
    assert index_map == fd.buildSegment(1)[1] == {0: 1, 1: 3, 2: 5}
    assert "fd.ops.add(tv0, tv1)" in repr(definition)
    with pytest.raises(DefinitionError) as raised:
        fd.build_segment(2)
    assert message(raised) == "there is no segment 2: the segments are 0 to 1"
    for number in ("0", 1.0, True, None):
        with pytest.raises(TypeError) as wrong:
            fd.build_segment(number)
        assert message(wrong) == f"build_segment: expected the number of a segment, not {number!r}"
    assert fd.build_segment(np.int64(1))[1] == index_map
    fd.finalize_segmentation()
    with pytest.raises(DefinitionError):
        fd.build_segment(0)
    assert fd.segments == []


def test_a_definition_that_changed_in_between():
    fd, [x, y] = reduction(), arrays((3, 4), (3, 4))
    fd.setup_segmentation()
    fd.segment()
    with fd:
        fd.add_output(fd.ops.neg(fd.fusion.inputs()[0]))
    changed = "the definition has changed since it was cut into segments: cut it again"
    for call in (lambda: fd.build_segment(0), lambda: fd.execute([x, y])):
        with pytest.raises(DefinitionError) as raised:
            call()
        assert message(raised) == changed
    fd.segment()
    assert np.array_equal(fd.execute([x, y])[1], -x)


def test_a_rejected_call_and_an_empty_block_leave_the_segments():
    fd, [x, y] = reduction(), arrays((3, 4), (3, 4))
    fd.setup_segmentation()
    fd.segment()
    before = fd.execute([x, y])
    with pytest.raises(DefinitionError):
        fd.add_output(fd.fusion.outputs()[0])
    with pytest.raises(DefinitionError):
        with fd:
            fd.ops.sum(fd.fusion.inputs()[0], dims=[7])
    with pytest.raises(DefinitionError):
        with fd:
            fd.define_tensor(shape=[-1], contiguity=[True, True])
    with fd:
        pass
    with fd.segments[0].definition:
        pass
    assert np.array_equal(fd.execute([x, y]), before) and fd.build_segment(1)[0] is not None
    with pytest.raises(DefinitionError, match="the definition has changed"):
        with fd:
            fd.ops.neg(fd.fusion.inputs()[0])
        fd.execute([x, y])


def test_in_place_outputs_are_written_when_all_segments_are_done():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        doubled = fd.ops.segment_set(x * 2.0)
        negated, powers = fd.ops.neg(doubled), fd.ops.exp(x)
        fd.add_output(doubled, x)
        fd.add_output(negated)
        fd.add_output(powers)
    [x] = arrays((9,))
    old = x.copy()
    fd.segmentation = [[doubled], [negated], [powers]]
    assert len(fd.segments) == 3
    negative, powers = fd.execute([x])
    assert np.array_equal(x, old * 2) and np.array_equal(negative, -old * 2)
    assert np.allclose(powers, np.exp(old))


def test_random_numbers_are_those_of_the_whole():
    from ferrofuse import manual_seed

    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.segment_set(fd.ops.rand_like(x)) + fd.ops.rand_like(x))
    [x] = arrays((1000,))
    manual_seed(7)
    [whole] = fd.execute([x])
    fd.segment()
    manual_seed(7)
    assert np.array_equal(fd.execute([x])[0], whole)


def test_a_segment_prints_runs_explains_and_reproduces_by_itself():
    fd, inputs = reduction(), arrays((3, 4), (3, 1))
    definition = fd.segment()[1].definition
    [made] = definition.execute(inputs)
    assert np.array_equal(made, inputs[0] + inputs[1])
    names = {"DataType": DataType, "FusionDefinition": FusionDefinition}
    exec(repr(definition), names)
    with FusionDefinition() as again:
        names["nvfuser_fusion"](again)
    assert repr(again) == repr(definition) and np.array_equal(again.execute(inputs)[0], made)
    [explained] = definition.explain(inputs).to_dict()["segments"]
    assert [tensor["name"] for tensor in explained["inputs"] + explained["outputs"]] == ["tv0", "tv1", "tv2"]
    script = definition.repro_script_for(inputs)
    exec(script, {})
    assert "fd.ops.add(tv0, tv1)" in script
    definition.validate(inputs)


def test_a_size_that_a_segment_cannot_see_is_a_scalar_input():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        total = fd.ops.sum(x, dims=[1])
        rows, columns = fd.ops.shape(x)
        twice = fd.ops.broadcast_in_dim(fd.ops.exp(total), shape=[rows, columns, rows], broadcast_dims=[0])
        fd.add_output(twice)
    [x] = arrays((3, 5))
    [whole] = fd.execute([x])
    fd.segmentation = [[total], [twice]]
    _, second = fd.segments
    assert second.inputs[:1] == ["tv1"] and "i1" in second.inputs
    assert "define_scalar(None, dtype=DataType.Int)" in repr(second.definition)
    by_name = {"tv0": x, "i0": 3, "i1": 5}
    values = by_hand(fd, fd.segments, by_name)
    assert np.array_equal(values[second.outputs[0]], whole) and np.array_equal(fd.execute([x])[0], whole)


def test_an_edited_segment_may_have_its_ops_in_another_order():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        first, second = fd.ops.exp(x), fd.ops.neg(x)
        fd.add_output(first)
        fd.add_output(second)
    [x] = arrays((7,))
    before = fd.execute([x])
    [segment] = fd.segment()
    with FusionDefinition() as other:
        y = other.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        second, first = other.ops.neg(y), other.ops.exp(y)
        other.add_output(first)
        other.add_output(second)
    segment.definition = other
    assert all(np.array_equal(*pair) for pair in zip(fd.execute([x]), before))


def test_a_fold_by_a_lambda_takes_a_schedule():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.fold([x], lambda a, b: a + b + a * b, init=[0.0], dims=[1]))
    inputs = [np.float32(0.01) * array for array in arrays((9, 33))]
    [segment] = fd.segment()
    [before] = fd.execute(inputs)
    segment.schedule = "schedule lanes 4\nrow x0\ninner x1\n"
    np.testing.assert_allclose(fd.execute(inputs)[0], before, rtol=1e-5, atol=1e-6)
    fd.validate(inputs)
    segment.schedule = "schedule lanes 1\nrow x0\ninner x1\n"
    fd.validate(inputs)


@pytest.mark.parametrize("cut", ["scaled | first again column", "scaled first | again column", "scaled first again column"])
def test_segments_write_in_place_where_nothing_else_needs_what_was_there(cut):
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) for _ in range(2))
        named = {"scaled": fd.ops.segment_set(y * 2.0)}
        named["first"] = x + named["scaled"]
        named["again"] = fd.ops.exp(named["first"])
        fd.add_output(named["first"], x)
        named["column"] = fd.ops.reshape(named["first"], [x.size(0), 1])
        for name in ("scaled", "again", "column"):
            fd.add_output(named[name])
    for shares in (False, True):
        memory = arrays((40,))[0]
        given = [memory[:20], memory[10:30] if shares else memory[20:]]
        scaled = given[1] * 2
        first = given[0] + scaled
        fd.segmentation = [[named[name] for name in made.split()] for made in cut.split("|")]
        outputs = fd.execute(given)
        assert np.array_equal(given[0], first) and np.array_equal(outputs[0], scaled)
        np.testing.assert_allclose(outputs[1], np.exp(first), rtol=1e-5)
        assert np.array_equal(outputs[2][:, 0], first)


def test_an_input_that_is_given_back_is_as_it_was_before_it_is_written():
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) for _ in range(2))
        total = fd.ops.segment_set(x * 2.0) + y
        fd.add_output(total, x)
        fd.add_output(x, y)
        fd.add_output(x)
        fd.add_output(total)
        fd.add_output(fd.ops.reshape(y, [y.size(0), 1]))
    for segmented in (False, True):
        given = arrays((20,), (20,))
        x, y = (np.copy(array) for array in given)
        if segmented:
            assert len(fd.segment()) == 2
        back, total_again, column = fd.execute(given)
        assert np.array_equal(given[0], x * 2 + y) and np.array_equal(total_again, given[0]) and np.array_equal(given[1], x)
        assert np.array_equal(back, x) and np.array_equal(column[:, 0], y)


def test_inputs_are_as_they_were_where_a_later_segment_rejects_an_index():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        places = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
        doubled = x * 2.0
        fd.add_output(doubled, x)
        taken = fd.ops.index_select(doubled, places, 0)
        fd.add_output(taken)
    fd.segmentation = [[doubled], [taken]]
    [x] = arrays((9,))
    old = x.copy()
    with pytest.raises(ferrofuse.OutOfRangeError):
        fd.execute([x, np.array([3, 99])])
    assert np.array_equal(x, old)
    [taken] = fd.execute([x, np.array([3, 8])])
    assert np.array_equal(x, old * 2) and np.array_equal(taken, x[[3, 8]])


def test_boundaries_in_a_row_may_each_end_a_segment():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        first = fd.ops.segment_set(fd.ops.exp(x))
        second = fd.ops.segment_set(first)
        fd.add_output(fd.ops.neg(second))
    [given] = arrays((9,))
    [expected] = fd.execute([given])
    fd.segmentation = [[first], [second], ["tv4"]]
    assert np.array_equal(fd.execute([given])[0], expected)
    assert by_hand(fd, fd.segments, {"tv0": given})["tv4"].tolist() == expected.tolist()


def test_random_numbers_belong_to_no_group_within_segments_either():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        drawn = fd.ops.randn_like(x)
        with fd.group("g", device="cpu", stream=2):
            made = fd.ops.silu(drawn)
        fd.add_output(made)
    [given] = arrays((9,))
    ferrofuse.manual_seed(3)
    [expected] = fd.execute([given])
    fd.segment()
    ferrofuse.manual_seed(3)
    assert np.array_equal(fd.execute([given])[0], expected)


def schedule_of(definition):
    return definition.explain().to_dict()["segments"][0]["schedule"]


def edit(segment):
    segment.definition = copy.copy(segment.definition)


def of_the_only_segment(change):
    return lambda definition: change(definition.segment()[0])


@pytest.mark.parametrize(
    "choose, what",
    [
        (lambda inner: setattr(inner, "peak_memory", 1 << 30), "a peak_memory of its own"),
        (lambda inner: setattr(inner, "segmentation", [["tv1"], ["tv2"]]), "a segmentation of its own"),
        (of_the_only_segment(edit), "a segment seg0 with an edited definition"),
        (
            of_the_only_segment(lambda segment: setattr(segment, "schedule", schedule_of(segment.definition))),
            "a segment seg0 with a schedule",
        ),
        (
            of_the_only_segment(lambda segment: setattr(segment.definition, "peak_memory", 1 << 30)),
            "a segment seg0 with a peak_memory of its own",
        ),
    ],
    ids=["memory", "segmentation", "edited", "schedule", "deeper"],
)
def test_choices_for_a_segments_definition_are_not_those_of_the_whole(choose, what):
    fd, [x, y] = reduction(), arrays((3, 4), (3, 4))
    segment, _ = fd.segment()
    segment.definition.segment()
    fd.execute([x, y])
    segment.definition.segmentation = None
    choose(segment.definition)
    for call in (lambda: fd.execute([x, y]), lambda: fd.validate([x, y]), lambda: pickle.dumps(fd)):
        with pytest.raises(DefinitionError) as raised:
            call()
        told = f"seg0: its definition has {what}, which a call of the whole would not use: remove it, or choose it for the whole"
        assert message(raised) == told


def test_a_schedule_is_for_inputs_that_lie_as_declared():
    [x] = arrays((64, 96))
    transposed = np.asfortranarray(x)
    for given, order in [(x, [1, 0]), (transposed, [0, 1])]:
        with FusionDefinition() as fd:
            declared = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float, stride_order=order)
            fd.add_output(fd.ops.softmax(declared, 1))
        [whole] = fd.execute([x])
        [segment] = fd.segment()
        segment.schedule = schedule_of(segment.definition)
        assert np.allclose(fd.execute([given])[0], whole, rtol=1e-5)
        if order == [1, 0] and "persist" in segment.schedule:
            with pytest.raises(InputError) as raised:
                fd.execute([transposed])
            assert message(raised).startswith("the schedule of seg0 does not fit it: ")
            assert "; it fits inputs that lie as they are declared, but the call has input 0 (" in message(raised)
            said = " of strides [1, 64]: call it on others, declare such strides, or set no schedule"
            assert message(raised).endswith(said)


def test_the_printed_schedule_of_a_segment_whose_axes_passes_number_anew_fits_it():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        transposed = fd.ops.permute(x[:, ::-1], dims=[1, 0])
        y = fd.ops.permute(fd.ops.sigmoid(transposed), dims=[1, 0])
        fd.add_output(fd.ops.sum(y, dims=[0, 1]))
        fd.add_output(y)
    [x] = arrays((6, 40))
    whole = fd.execute([x])
    for segment in fd.segment():
        segment.schedule = schedule_of(segment.definition)
    assert all(np.allclose(*pair, rtol=1e-5) for pair in zip(fd.execute([x]), whole))
    fd.validate([x])


def test_the_only_kernel_of_a_segment_takes_its_schedule():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        values, _ = fd.ops.topk(x, 3, 1, True, True)
        powers = fd.ops.exp(values)
        fd.add_output(powers)
    [x] = arrays((5, 9))
    [whole] = fd.execute([x])
    fd.segmentation = [[powers]]
    [segment] = fd.segments
    segment.schedule = "schedule lanes 8\nrow x0\ninner x1\n"
    assert np.allclose(fd.execute([x])[0], whole, rtol=1e-5)
    with pytest.raises(InputError) as raised:
        segment.schedule = "schedule lanes 8\nrow x7\n"
    assert message(raised) == "the schedule of seg0 does not fit it: the segment has no axis x7"


def test_sizes_that_are_one_by_a_fact_have_axes_of_their_own():
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor(shape=[-1, -1], contiguity=dense, dtype=DataType.Float) for dense in (True, False))
        negated, first = fd.ops.neg(a), fd.ops.slice(a, [0, 0], [1, 1])
        total = fd.ops.expand(fd.ops.sum(a, dims=[0], keepdim=True), [1, 1])
        sums = [fd.ops.sum(each, dims=[1], keepdim=True) for each in (total, b)]
        others = [sums[0] + negated, sums[1] + a]
        fd.add_output(negated)
        fd.add_output(total, b)  # whose sizes are 1 then
    del others
    fd.segmentation = [["tv2"], ["tv3"], ["tv6"], ["tv7"], ["tv9"], ["tv4"]]
    given, written = np.array([[2.0]], np.float32), np.array([[3.0]], np.float32)
    assert fd.execute([given, written])[0] == -2 and written == 2


def test_a_cut_into_single_ops_shares_kernels_of_equal_sizes():
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float) for _ in range(2))
        fd.add_output(fd.ops.exp(x) * fd.ops.exp(y))
    assert "unfused" in str(fd.explain([np.ones((128, 128), np.float32)] * 2, against="unfused"))


def test_what_only_the_whole_leaves_to_the_evaluator_is_explained_as_it_runs():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, 6], contiguity=True, dtype=DataType.Float)
        rows = x.size(0)
        fd.add_output(fd.ops.reshape(fd.ops.cumsum(fd.ops.reshape(x, [rows, 2, 3]), dim=2), [rows, 6]))
        fd.add_output(fd.ops.reshape(fd.ops.cumsum(x, dim=1), [rows, 2, 3]))
    arrays = [np.ones((8, 6), np.float32)]
    fd.segment(arrays)
    segments = fd.explain(arrays).to_dict()["segments"]
    assert len(segments) == 2 and not any("evaluator_reason" in segment for segment in segments)
    assert all(segment["schedule"] for segment in segments)
