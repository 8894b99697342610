"""Scalars in: what they take, what they reject."""

import inspect

import numpy as np
import pytest

from ferrofuse import ArgumentError, DataType, FusionDefinition, InputError


def test_scalars_are_numbers_of_python_and_numpy():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x * fd.define_scalar(DataType.Double) + fd.define_scalar(DataType.Int))
    for two, one in ((2.0, 1), (2, True), (np.float32(2), np.int32(1)), (np.array(2.0), np.array(1))):
        [output] = fd.execute([np.ones(3, np.float32), two, one])
        np.testing.assert_array_equal(output, [3, 3, 3])


TAKEN = [
    (DataType.Double, 2, 2.0),
    (DataType.Double, np.float32(0.5), 0.5),
    (DataType.Float, np.array(3), 3.0),
    (DataType.Double, -(2**64), -(2.0**64)),
    (DataType.Float, 2**100 + 1, 2.0**100),
    (DataType.Int, True, 1),
    (DataType.Int32, -(2**31), -(2**31)),
    (DataType.UInt64, 2**64 - 1, 2**64 - 1),
    (DataType.Bool, np.bool_(True), True),
    (DataType.ComplexFloat, 2.0, 2 + 0j),
]


def scaled_by(dtype):
    """A scalar in a tensor, and the line that declares it."""
    with FusionDefinition() as fd:
        scalar, line = fd.define_scalar(dtype), inspect.currentframe().f_lineno
        fd.add_output(fd.ops.full([2], scalar, dtype))
    return fd, line


@pytest.mark.parametrize("dtype, given, value", TAKEN)
def test_scalars_take_what_they_can_hold(dtype, given, value):
    [output] = scaled_by(dtype)[0].execute([given])
    assert output[1] == value


# What nvFuser says of a value: in the language of C++.
VALUE = "; in nvFuser's words: Scalar value {} is not compatible with the expected data type: {}."
ARRAY = "; in nvFuser's words: Expected input 0, d0, to be a scalar but got float tensor of rank 1"
REJECTED = [
    (DataType.Double, 2.0 + 1j, "a real number for a scalar of dtype f64", "complex (2+1j)", VALUE.format("(2,1)", "double")),
    (DataType.Double, np.ones(3, np.float32), "a real number for a scalar of dtype f64", "ndarray of shape [3]", ARRAY),
    (DataType.Float, "one", "a real number for a scalar of dtype f32", "str", ""),
    (DataType.Float, None, "a real number for a scalar of dtype f32", "NoneType", ""),
    (DataType.Int, 2.5, "an integer for a scalar of dtype i64", "float 2.5", VALUE.format("2.5", "int64_t")),
    (DataType.Int, np.float32(2), "an integer for a scalar of dtype i64", "float32 2.0", VALUE.format("2", "int64_t")),
    (DataType.Int32, float("nan"), "an integer for a scalar of dtype i32", "float nan", VALUE.format("nan", "int")),
    (DataType.Bool, 1, "True or False for a scalar of dtype bool", "int 1", VALUE.format("1", "bool")),
    (DataType.ComplexDouble, [[1.0]], "a number for a scalar of dtype c128", "list", ""),
]


@pytest.mark.parametrize("dtype, given, expected, words, known", REJECTED)
def test_scalars_reject_what_they_would_change(dtype, given, expected, words, known):
    fd, line = scaled_by(dtype)
    with pytest.raises(ArgumentError) as caught:
        fd.execute([given])
    error = caught.value
    assert (error.argument, error.expected, error.given) == (f"input 0 (test_scalars.py:{line})", expected, words)
    assert str(error) == f"input 0 (test_scalars.py:{line}): expected {expected}, got {words}{known}"


@pytest.mark.parametrize("dtype, given", [(DataType.Int32, 2**31), (DataType.UInt64, -1), (DataType.Int, 2**63)])
def test_scalars_reject_integers_beyond_them(dtype, given):
    fd, line = scaled_by(dtype)
    with pytest.raises(InputError, match=rf"^input 0 \(test_scalars.py:{line}\): the number {given} is beyond"):
        fd.execute([given])


@pytest.mark.parametrize("dtype, given", [(DataType.Double, 2**1024), (DataType.Int, 2**64)])
def test_integers_that_no_dtype_holds_are_rejected(dtype, given):
    with pytest.raises(OverflowError, match=f"the integer {given} has more than 64 bits"):
        scaled_by(dtype)[0].execute([given])


def test_a_tensor_without_axes_takes_numbers_alike():
    with FusionDefinition() as fd:
        fd.add_output(fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float) * 2.0)
    assert fd.execute([1.5])[0] == 3
    with pytest.raises(TypeError, match="expected a real number"):
        fd.execute([1j])
