"""Arrays in and out: dtypes, layouts, lifetimes, what is rejected."""

import gc
import sys
import weakref

import ml_dtypes
import numpy as np
import pytest
from given_arrays import LAYOUTS, Exported

from ferrofuse import DataType, FusionDefinition, InputError

DTYPES = {
    np.dtype(bool): DataType.Bool,
    np.dtype(np.int32): DataType.Int32,
    np.dtype(np.int64): DataType.Int,
    np.dtype(np.float16): DataType.Half,
    np.dtype(ml_dtypes.bfloat16): DataType.BFloat16,
    np.dtype(np.float32): DataType.Float,
    np.dtype(np.float64): DataType.Double,
}


def doubled(rank, dtype=DataType.Float):
    """x + x in the dtype of x, for arrays of any strides."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=False, dtype=dtype)
        fd.add_output(fd.ops.cast(x + x, dtype))
    return fd


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_go_in_and_come_out(dtype):
    array = np.array([[0, 1, 3], [2, 1, 0]]).astype(dtype)
    if dtype == bool:
        with FusionDefinition() as fd:
            x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Bool)
            fd.add_output(fd.ops.logical_not(x))
        expected = ~array
    else:
        fd, expected = doubled(2, DTYPES[dtype]), array + array
    [output] = fd.execute([array])
    assert output.dtype == dtype
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    array = LAYOUTS[layout](np.arange(5 * 6 * 7, dtype=np.float32).reshape(5, 6, 7))
    [output] = doubled(3).execute([array])
    np.testing.assert_array_equal(output, array + array)


def test_without_dimensions():
    [output] = doubled(0).execute([np.float32(3).reshape(())])
    assert output.shape == () and output == 6


def test_fields_of_records():
    records = np.array([(1.0, 2), (3.0, 4)], dtype=[("a", np.float32), ("b", np.int16)])
    [output] = doubled(1).execute([records["a"]])
    np.testing.assert_array_equal(output, [2.0, 6.0])


def test_dlpack_goes_in_without_a_copy_and_is_given_back():
    array = np.arange(6, dtype=np.float32)
    before = sys.getrefcount(array)
    [output] = doubled(1).execute([Exported(array[::2])])
    np.testing.assert_array_equal(output, [0, 4, 8])
    gc.collect()
    assert sys.getrefcount(array) == before


def test_outputs_are_exported_by_dlpack():
    [output] = doubled(1).execute([np.arange(3, dtype=np.float32)])
    memory = output.base
    again = np.from_dlpack(memory)
    del output, memory
    gc.collect()
    np.testing.assert_array_equal(again, [0, 2, 4])


def test_wrong_inputs_are_rejected():
    fd = doubled(1)
    good = np.ones(2, np.float32)
    with pytest.raises(InputError, match="expected 1 inputs, got 2"):
        fd.execute([good, good])
    with pytest.raises(ValueError, match=r"^input 0 \(test_arrays\.py:\d+\): expected dtype f32, got f64"):
        fd.execute([good.astype(np.float64)])
    with pytest.raises(ValueError, match="expected 1 axes, got 2"):
        fd.execute([good.reshape(1, 2)])
    with pytest.raises(TypeError, match=r"input 0 \(test_arrays\.py:\d+\): arrays of dtype >i2 are not supported"):
        fd.execute([good.astype(">i2")])
    with pytest.raises(TypeError, match=r"input 0 \(test_arrays\.py:\d+\): arrays of dtype >f4 are not supported"):
        fd.execute([good.astype(">f4")])
    with pytest.raises(TypeError, match="expected an array .* got float 1.0"):
        fd.execute([1.0])
    with pytest.raises(TypeError, match="expected an array .* got str"):
        fd.execute(["one"])
    with pytest.raises(ValueError, match="device: `mps` is no device; known are cpu, cuda, cuda:0, cuda:1, …"):
        fd.execute([good], device="mps")


def test_outputs_outlive_everything():
    fd = doubled(1)
    array = np.arange(1000, dtype=np.float32)
    [output] = fd.execute([array])
    gone = weakref.ref(fd)
    del fd, array
    gc.collect()
    assert gone() is None
    assert output[999] == 1998
    output[:] = 1  # the memory is Python's own
    assert output.sum() == 1000
