"""In-place outputs reach the array that was given, or the array is rejected before anything runs."""

import numpy as np
import pytest
from given_arrays import LAYOUTS, Exported

from ferrofuse import DataType, FusionDefinition


def incremented(rank):
    """x + 1 written to x, for arrays of any strides."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=False, dtype=DataType.Float)
        fd.add_output(x + 1.0, x)
    return fd


def swapped():
    """x - y written to x and x * y to y."""
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1], contiguity=False, dtype=DataType.Float) for _ in "xy")
        fd.add_output(x - y, x)
        fd.add_output(x * y, y)
    return fd


def writable_unaligned(a):
    view = np.frombuffer(bytearray(b"." + a.tobytes()), a.dtype, offset=1).reshape(a.shape)
    assert view.flags.writeable and not view.flags.aligned
    return view


WRITTEN = ["transposed", "stepped", "reversed", "empty", "one", "unaligned"]
REJECTED = {"readonly": "was given for reading only", "expanded": "was given for reading only"}


@pytest.mark.parametrize("layout", WRITTEN)
def test_every_layout_that_can_be_written_is(layout):
    make = writable_unaligned if layout == "unaligned" else LAYOUTS[layout]
    array = make(np.arange(5 * 6 * 7, dtype=np.float32).reshape(5, 6, 7))
    expected = array + 1
    assert incremented(3).execute([array]) == []
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("layout", REJECTED)
def test_layouts_that_cannot_be_written_are_rejected(layout):
    array = LAYOUTS[layout](np.arange(5 * 6 * 7, dtype=np.float32).reshape(5, 6, 7))
    before = array.copy()
    with pytest.raises(ValueError, match=rf"^input 0 \(test_in_place\.py:\d+\) is written to, but {REJECTED[layout]}$"):
        incremented(3).execute([array])
    np.testing.assert_array_equal(array, before)


def test_elements_that_share_memory_are_rejected():
    array = np.lib.stride_tricks.as_strided(np.zeros(6, np.float32), (4, 3), (4, 4), writeable=True)
    with pytest.raises(ValueError, match="is written to, but some of its elements share memory"):
        incremented(2).execute([array])


@pytest.mark.parametrize("field", ["a", "c"])
def test_fields_of_packed_records_are_rejected(field):
    records = np.zeros(3, dtype=[("a", np.float32), ("b", np.int16), ("c", np.float32)])
    with pytest.raises(ValueError, match=r"input 0 \(test_in_place\.py:\d+\) is written to, but its elements lie at distances"):
        incremented(1).execute([records[field]])
    assert (records[field] == 0).all()


def test_nothing_is_written_where_a_later_input_is_rejected():
    x = np.ones(3, np.float32)
    records = np.ones(3, dtype=[("a", np.float32), ("b", np.int16)])
    with pytest.raises(ValueError, match=r"input 1 \(test_in_place\.py:\d+\) is written to"):
        swapped().execute([x, records["a"]])
    assert (x == 1).all()


def test_fields_of_aligned_records_are_written():
    records = np.zeros(3, dtype=np.dtype([("a", np.float32), ("b", np.int16)], align=True))
    incremented(1).execute([records["a"]])
    assert records["a"].tolist() == [1, 1, 1] and records["b"].tolist() == [0, 0, 0]


def test_overlapping_unaligned_arrays_are_read_before_they_are_written():
    memory = bytearray(1 + 4 * 5)
    whole = np.frombuffer(memory, np.float32, offset=1)
    whole[:] = [1, 2, 3, 4, 5]
    read, written = whole[:4], whole[1:]
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) for _ in "xy")
        fd.add_output(x + y, y)
    fd.execute([read, written])
    assert whole.tolist() == [1, 3, 5, 7, 9]


def test_validate_writes_nothing_and_takes_what_cannot_be_written():
    records = np.zeros(3, dtype=[("a", np.float32), ("b", np.int16)])
    for array in (records["a"], np.zeros(3, np.float32)):
        [output] = incremented(1).validate([array])
        assert output.tolist() == [1, 1, 1] and array.tolist() == [0, 0, 0]


# ------------------------------------------------------------------------------------------------ DLPack alone
class Copied(Exported):
    """An array whose library gives a copy, and says so."""

    def __dlpack__(self, **options):
        return self.array.__dlpack__(copy=True, **options)


class OfTheFirstVersion(Exported):
    """An array of a library that knows no keyword arguments."""

    def __dlpack__(self):
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Exported, OfTheFirstVersion])
def test_arrays_by_dlpack_are_written(kind):
    array = np.zeros(3, np.float32)
    incremented(1).execute([kind(array)])
    assert array.tolist() == [1, 1, 1]


def test_read_only_arrays_by_dlpack_are_read_and_not_written():
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x + 1.0)
    assert fd.execute([Exported(array)])[0].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="was given for reading only"):
        incremented(1).execute([Exported(array)])
    assert array.tolist() == [1, 1, 1]


def test_copies_by_dlpack_are_not_written():
    array = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="is written to, but its library gives a copy of it"):
        incremented(1).execute([Copied(array)])


# ---------------------------------------------------------------------------------- arrays that mean something else
class WithUnits(np.ndarray):
    """An array whose arithmetic is its own."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        raise TypeError("units differ")


class Named(np.ndarray):
    """An array with a name, which is otherwise NumPy's."""

    name = "it"


@pytest.mark.parametrize("run", ["execute", "validate"])
def test_masked_arrays_are_rejected(run):
    array = np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=np.float32)
    with pytest.raises(TypeError, match=r"^input 0 \(test_in_place\.py:\d+\): masked arrays are not supported"):
        getattr(incremented(1), run)([array])
    assert array.data.tolist() == [1, 2, 3]


def test_masked_scalars_and_references_are_rejected():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x * fd.define_scalar(DataType.Double))
    array = np.ones(2, np.float32)
    with pytest.raises(TypeError, match="masked arrays are not supported"):
        fd.execute([array, np.ma.array(2.0, mask=True)])
    with pytest.raises(TypeError, match="masked arrays are not supported"):
        fd.validate([array, 2.0], [np.ma.array([2.0, 5.0], mask=[0, 1])])
    with pytest.raises(TypeError, match="masked arrays are not supported"), FusionDefinition() as fd:
        fd.define_scalar(np.ma.masked)


def test_subclasses_with_arithmetic_of_their_own_are_rejected():
    message = r"input 0 \(test_in_place\.py:\d+\): arrays of \S*WithUnits have a meaning of their own \(__array_ufunc__\)"
    with pytest.raises(TypeError, match=message):
        incremented(1).execute([np.ones(3, np.float32).view(WithUnits)])


@pytest.mark.parametrize("kind", [np.matrix, Named])
def test_other_subclasses_are_their_elements(kind):
    array = np.ones((2, 3), np.float32).view(kind)
    incremented(2).execute([array])
    assert (np.asarray(array) == 2).all()


def test_memory_maps_are_written(tmp_path):
    array = np.memmap(tmp_path / "x", np.float32, "w+", shape=3)
    incremented(1).execute([array])
    array.flush()
    assert np.fromfile(tmp_path / "x", np.float32).tolist() == [1, 1, 1]
