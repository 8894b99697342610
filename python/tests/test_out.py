"""`execute(out=…)` and `output_types`: outputs in arrays of the caller's, and what they will be."""

import copy

import numpy as np
import pytest

from ferrofuse import ArgumentError, DataType, FusionDefinition, InputError, OutputType
from given_arrays import LAYOUTS

A = np.random.default_rng(5).standard_normal((6, 10)).astype(np.float32)


def matrix(fd):
    return fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)


@pytest.fixture
def fd():
    with FusionDefinition() as fd:
        x = matrix(fd)
        y = fd.ops.exp(x)
        fd.add_output(y)
        fd.add_output(fd.ops.sum(y, dims=[1]))
        fd.add_output(fd.ops.permute(x, [1, 0]))
    return fd


def fresh():
    return [np.full((6, 10), np.nan, np.float32), np.full(6, np.nan, np.float32), np.full((10, 6), np.nan, np.float32)]


def test_outputs_are_the_arrays_that_were_given(fd):
    out = fresh()
    given = fd.execute([A], out=out)
    assert all(one is other for one, other in zip(given, out))
    for one, other in zip(out, fd.execute([A])):
        np.testing.assert_array_equal(one, other)
    fd.segmentation = [["tv1"], ["tv2"]]
    in_segments = fd.execute([A], out=fresh())
    for one, other in zip(out, in_segments):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("layout", ["transposed", "stepped", "reversed", "unaligned"])
def test_any_layout_that_can_be_written_is_written(layout):
    with FusionDefinition() as fd:
        fd.add_output(fd.define_tensor(shape=[-1] * 3, contiguity=True, dtype=DataType.Float) * 2.0)
    memory = np.zeros((4, 5, 6), np.float32)
    out = LAYOUTS[layout](memory) if layout != "unaligned" else np.zeros(4 * 5 * 6 * 4 + 1, np.uint8)[1:].view(np.float32)
    out = out.reshape(4, 5, 6) if layout == "unaligned" else out
    value = np.arange(out.size, dtype=np.float32).reshape(out.shape)
    fd.execute([value], out=[out])
    np.testing.assert_array_equal(out, value * 2)


def test_strides_of_axes_of_size_1_do_not_matter():
    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(fd.ops.topk(x, 1, dim=1)[0])
        fd.add_output(fd.ops.matmul(fd.ops.slice(x, [0, 0], [1, 10]), fd.ops.permute(x, [1, 0])))
    out = [np.zeros((1, 6), np.float32).T, np.zeros((1, 9), np.float32)[:, :6]]
    fd.execute([A], out=out)
    np.testing.assert_array_equal(out[0], A.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out[1], A[:1] @ A.T, rtol=1e-5, atol=1e-5)


def test_an_output_is_made_where_it_belongs():
    """No memory of its own: the call fits where there is room for nothing else."""
    with FusionDefinition() as fd:
        fd.add_output(matrix(fd) + 1.0)
    out = np.zeros((6, 10), np.float32)
    before = out.ctypes.data
    [given] = fd.execute([A], out=[out])
    assert given.ctypes.data == before and (out == A + 1).all()


def test_outputs_in_place_are_not_among_them():
    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(x + 1.0, x)
        fd.add_output(x * 2.0)
    x, out = A.copy(), np.zeros_like(A)
    [given] = fd.execute([x], out=[out])
    assert given is out and (out == A * 2).all() and (x == A + 1).all()


READ_ONLY = np.zeros(6, np.float32)
READ_ONLY.flags.writeable = False
REPEATED = np.broadcast_to(np.zeros(1, np.float32), 6)
MISTAKES = {
    "number": (lambda out: out[:1], InputError, "out: expected 3 arrays, one for each output, got 1"),
    "sizes": (lambda out: [out[0].T, *out[1:]], InputError, r"out\[0\]: expected f32\[6, 10\], got f32\[10, 6\]"),
    "dtype": (lambda out: [out[0], out[1].astype(np.float64), out[2]], InputError, r"out\[1\]: expected f32\[6\], got f64\[6\]"),
    "an input": (lambda out: [A, *out[1:]], InputError, r"out\[0\]: its memory overlaps that of input 0"),
    "each other": (lambda out: [*out[:2], out[0].reshape(10, 6)], InputError, r"out\[2\]: its memory overlaps that of out\[0\]"),
    "no array": (lambda out: [3.0, *out[1:]], ArgumentError, r"out\[0\]: expected an array"),
    "no list": (lambda out: out[0], ArgumentError, "out must be a list or tuple of arrays, got ndarray"),
    "read only": (lambda out: [out[0], READ_ONLY, out[2]], InputError, r"out\[1\] is written to, but was given for reading only"),
    "repeated": (lambda out: [out[0], REPEATED, out[2]], InputError, r"out\[1\] is written to, but"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_unwritable_arrays_are_rejected_before_anything_runs(fd, mistake):
    change, error, words = MISTAKES[mistake]
    out, before = fresh(), A.copy()
    with pytest.raises(error, match=words):
        fd.execute([A], out=change(out))
    assert all(np.isnan(array).all() for array in out) and (before == A).all()


@pytest.mark.parametrize("parts", ["columns", "halves of rows", "even and odd rows"])
def test_parts_of_one_array_are_written(parts):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=False, dtype=DataType.Float)
        fd.add_output(x + 1.0)
        fd.add_output(x * 2.0)
    whole = np.full((8, 6), np.nan, np.float32)
    out = {
        "columns": [whole[:, :1], whole[:, 4:5]],
        "halves of rows": [whole[:, :3], whole[:, 3:]],
        "even and odd rows": [whole[::2], whole[1::2]],
    }[parts]
    x = np.arange(48, dtype=np.float32).reshape(8, 6)[: out[0].shape[0], : out[0].shape[1]]
    fd.execute([x], out=out)
    assert (out[0] == x + 1).all() and (out[1] == x * 2).all()
    assert np.isnan(whole).sum() == whole.size - 2 * x.size


def test_an_array_is_written_beside_the_part_that_is_read():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=False, dtype=DataType.Float)
        fd.add_output(x * 2.0)
    whole = np.arange(48, dtype=np.float32).reshape(8, 6)
    before = whole.copy()
    fd.execute([whole[:, :3]], out=[whole[:, 3:]])
    assert (whole[:, 3:] == before[:, :3] * 2).all() and (whole[:, :3] == before[:, :3]).all()


def test_out_and_like_are_one_too_many(fd):
    with pytest.raises(ValueError, match="give out or like"):
        fd.execute([A], out=fresh(), like="numpy")


def test_types_are_those_of_the_outputs():
    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(fd.ops.permute(x + 1.0, [1, 0]))
        fd.add_output(fd.ops.expand(fd.ops.sum(x, dims=[1], keepdim=True), [-1, 7]))
        fd.add_output(fd.ops.slice(x, [0, 1], [4, 6]))
        fd.add_output(fd.ops.cast(x, DataType.Double))
        fd.add_output(x * 2.0, x)
    x = A.copy()
    told, outputs = fd.output_types([x]), fd.execute([x])
    assert told[0] == OutputType([10, 6], DataType.Float, [1, 10])
    assert len(told) == len(outputs) == 4
    for one, output in zip(told, outputs):
        assert (tuple(one.shape), one.dtype.numpy_name) == (output.shape, output.dtype.name)
        assert [stride * output.itemsize for stride in one.strides] == list(output.strides)


def test_types_run_nothing_and_draw_nothing():
    import ferrofuse

    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(x + fd.ops.uniform(0.0, 1.0, x.shape()), x)
        fd.add_output(fd.ops.sum(x, dims=[0]))
    state, x = ferrofuse.get_rng_state(), A.copy()
    assert fd.output_types([x]) == [OutputType([10], DataType.Float, [1])]
    assert ferrofuse.get_rng_state() == state and (x == A).all()
    with pytest.raises(InputError, match="rank"):
        fd.output_types([A[0]])


def test_an_order_that_holds_is_a_view():
    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(fd.ops.stride_order(fd.ops.permute(x, [1, 0]), [0, 1]))
        fd.add_output(fd.ops.stride_order(fd.ops.slice(x, [0, 1], [4, 6]), [1, 0]))
        fd.add_output(fd.ops.stride_order(x, [0, 1]))
    transposed, part, other = fd.execute([A])
    assert np.shares_memory(transposed, A) and np.shares_memory(part, A) and not np.shares_memory(other, A)
    assert transposed.strides == (4, 40) and other.strides == (4, 24)
    np.testing.assert_array_equal(transposed, A.T)
    np.testing.assert_array_equal(other, A)
    strided = np.zeros((6, 20), np.float32)[:, :10]
    assert np.shares_memory(fd.execute([strided])[0], strided)


def test_a_definition_of_views_has_no_kernel():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.stride_order(fd.ops.permute(matrix(fd), [1, 0]), [0, 1]))
    assert fd.explain([A]).to_dict()["segments"] == []
    assert copy.copy(fd).execute([A])[0].base is not None


def test_set_of_an_input_is_a_view_as_with_nvfuser():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(matrix(fd)))
    out = np.zeros_like(A)
    assert np.shares_memory(fd.execute([A])[0], A)
    fd.execute([A], out=[out])
    assert (out == A).all()
    assert "view of an input" in fd.ops.set.__doc__
