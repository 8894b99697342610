"""What users of nvFuser call: errors with attributes, options, validate, guarded fusions, the ways to define a tensor."""

import inspect

import numpy as np
import pytest

from ferrofuse import (
    ArgumentError,
    DataType,
    DefinitionError,
    FusionDefinition,
    FusionExecutorCache,
    FusionGuard,
    Fusion,
    OutOfRangeError,
    define_scalar,
    define_tensor,
    ops,
    translate_fusion,
)
import ferrofuse


def here():
    return inspect.currentframe().f_back.f_lineno


def tensor(fd, rank=1, dtype=DataType.Float):
    return fd.define_tensor(shape=[-1] * rank, contiguity=True, dtype=dtype)


def test_rejections_of_inputs_have_attributes():
    with FusionDefinition() as fd:
        line = here() + 1
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x + y)
    ones = np.ones(4, np.float32)
    for given, place, expected, found in [
        ([ones.astype(np.float64), ones], 0, "f32", "f64"),
        ([ones.reshape(2, 2), ones], 0, "1", "2"),
        ([ones, ones[:3]], 1, "4", "3"),
    ]:
        with pytest.raises(ferrofuse.InputError) as caught:
            fd.execute(given)
        error = caught.value
        argument = f"input {place} (test_interface.py:{line + place})"
        assert (error.argument, error.expected, error.given) == (argument, expected, found)


def test_integers_that_no_dtype_of_integers_holds_name_the_line():
    with FusionDefinition() as fd:
        x = tensor(fd)
        with pytest.raises(OverflowError) as caught:
            line = here() + 1
            x.astype(int) + 2**70
        assert str(caught.value) == f"test_interface.py:{line}: the integer {2**70} has more than 64 bits"


def test_rejections_name_op_argument_and_line():
    with FusionDefinition() as fd:
        x = tensor(fd)
        with pytest.raises(DefinitionError) as caught:
            line = here() + 1
            fd.ops.sum(x, dims=[3])
        error = caught.value
        assert (error.op, error.argument, error.given, error.line) == ("sum", "dims", "[3]", line)
        assert error.expected in str(error)
        with pytest.raises(ArgumentError) as caught:
            fd.ops.sum()
        assert caught.value.op == "sum"


def test_operators_know_their_line():
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[size], contiguity=True, dtype=DataType.Float) for size in (3, 4))
        with pytest.raises(DefinitionError) as caught:
            line = here() + 1
            x + y
        assert (caught.value.op, caught.value.line) == ("add", line)


def test_an_index_out_of_range_names_the_line_of_its_op():
    with FusionDefinition() as fd:
        x, index = tensor(fd), tensor(fd, dtype=DataType.Int)
        line = here() + 1
        fd.add_output(fd.ops.index_select(x, index, 0))
    with pytest.raises(IndexError, match=f"^test_interface.py:{line}: `index_select`: index 4 is out of range for axis 0 of size 4") as caught:
        fd.execute([np.zeros(4, np.float32), np.array([4])])
    assert isinstance(caught.value, OutOfRangeError)
    assert (caught.value.op, caught.value.line, caught.value.given) == ("index_select", line, "4")


def test_an_index_that_a_segment_rejects_names_the_line_of_its_op():
    with FusionDefinition() as fd:
        x, index = tensor(fd), tensor(fd, dtype=DataType.Int)
        doubled = x * 2.0
        line = here() + 1
        taken = fd.ops.index_select(doubled, index, 0)
        _, places = fd.ops.topk(taken, 1, 0)
        fd.add_output(places)
    fd.segmentation = [[doubled], [taken], [places]]
    given = [np.zeros(4, np.float32), np.array([-5])]
    said = f"^test_interface.py:{line}: `index_select`: index -5 is out of range for axis 0 of size 4"
    for definition, arrays in ((fd, given), (fd.segments[1].definition, given[::-1])):
        with pytest.raises(OutOfRangeError, match=said) as caught:
            definition.execute(arrays)
        assert (caught.value.op, caught.value.line, caught.value.given) == ("index_select", line, "-5")


def test_options_are_checked_as_nvfuser_checks_them():
    with FusionDefinition() as fd:
        fd.add_output(tensor(fd) + 1.0)
    one = [np.zeros(1, np.float32)]
    assert fd.execute(one, _enable_options=["fuse_matmul", "p2p_protocol(put)"], _disable_options=["fma"])[0] == 1
    with pytest.raises(RuntimeError, match="Unrecognized enable_option: fuse_matmull"):
        fd.execute(one, _enable_options=["fuse_matmull"])
    with pytest.raises(RuntimeError, match="Unrecognized disable_option: fuse_matmul"):
        fd.execute(one, _disable_options=["fuse_matmul"])
    with pytest.raises(NotImplementedError, match="ferrofuse run --schedule"):
        fd.manual_execute(one)


def test_validate_compares_with_the_evaluator_and_with_references():
    with FusionDefinition() as fd:
        x = tensor(fd, rank=2)
        fd.add_output(fd.ops.softmax(x, dim=1))
        fd.add_output(x + 1.0, x)
    values = np.random.default_rng(0).standard_normal((4, 9)).astype(np.float32)
    before = values.copy()
    expected = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    outputs = fd.validate([values], [expected, values + 1])
    assert len(outputs) == 2 and np.array_equal(values, before)  # nothing is written to inputs
    with pytest.raises(AssertionError, match=r"output 0 at \[0, 0\] is .*, its reference"):
        fd.validate([values], [expected + 1, values + 1])
    with pytest.raises(AssertionError, match="2 outputs, but 1 reference"):
        fd.validate([values], [expected])


def test_a_wrong_result_is_told():
    from ferrofuse.validation import require_matches

    found = {"mismatches": 2, "worst_ratio": 12.5, "at": [0, 1], "expected": "1.0", "got": "2.0"}
    with pytest.raises(AssertionError, match=r"output 1 at \[0, 1\] is 2.0, the evaluator says 1.0: 12.5 times"):
        require_matches([{**found, "mismatches": 0}, found])


def test_validate_of_random_numbers_draws_the_same():
    with FusionDefinition() as fd:
        x = tensor(fd)
        fd.add_output(x + fd.ops.normal(0.0, 1.0, [x.size(0)]))
    ferrofuse.manual_seed(8)
    [checked] = fd.validate([np.zeros(5, np.float32)])
    assert np.array_equal(fd.execute([np.zeros(5, np.float32)])[0], checked)


def test_guarded_fusions_take_calls_of_the_module():
    fusion = Fusion()
    with FusionGuard(fusion):
        x = define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fusion.add_output(ops.mul(x, define_scalar(3.0)))
    with FusionDefinition() as fd:
        y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(ops.mul(y, 3.0))
    assert fusion == fd.fusion and "def nvfuser_fusion(fd : FusionDefinition) -> None :" in translate_fusion(fusion)
    assert len(fusion.vals()) == 2 and fusion.print_math() == repr(fd)
    with pytest.raises(RuntimeError, match="there is no current fusion"):
        ops.neg(y)
    cache = FusionExecutorCache(fusion)
    three = [np.ones(2, np.float32)]
    assert not cache.is_compiled(three)
    assert (cache.execute(three)[0] == 3).all() and cache.is_compiled(three)
    assert fd.execute(three) and fd.fec.is_compiled(three)


def test_the_three_ways_to_define_a_tensor():
    made = []
    for arguments in (
        {"shape": [-1, -1], "contiguity": [True, True], "dtype": DataType.Float},
        {"shape": [-1, -1], "contiguity": True},
        {"sizes": [2, 3], "strides": [3, 1]},
    ):
        with FusionDefinition() as fd:
            fd.add_output(fd.define_tensor(**arguments) + 1.0)
        made.append(fd.fusion)
    assert made[0] == made[1] == made[2]
    with FusionDefinition() as fd:
        fd.define_tensor([-1, 2], False, DataType.Half)
        fd.define_tensor([2, 3], [3, 1], DataType.Int, True)
        fd.define_tensor([], [], DataType.Float, True)
        fd.add_output(fd.define_tensor(shape=[-1, -1], contiguity=True, stride_order=[0, 1]))
    text = repr(fd)
    assert "shape=[-1, 2], contiguity=[False, False], dtype=DataType.Half" in text
    assert "shape=[2, 3], contiguity=[True, True], dtype=DataType.Int" in text
    assert "is_cpu=True" in text and "stride_order=[0, 1]" in text


def test_a_seed_that_is_none_is_rejected():
    for seed in (-1, 1.5, 2**64):
        with pytest.raises(ValueError, match=r"^seed: expected a whole number from 0 to 2\*\*64 - 1, not "):
            ferrofuse.manual_seed(seed)


def test_tuples_of_any_kind_are_flattened():
    class Sizes(tuple):
        pass

    with FusionDefinition() as fd:
        rows, columns = fd.define_vector(2)
        fd.add_output(fd.ops.full([rows, columns], 1.0, DataType.Float))
    assert fd.execute([Sizes((2, 3))])[0].shape == (2, 3)
