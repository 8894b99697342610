"""Where outputs lie: views of inputs, strides, memory orders."""

import gc
import weakref

import numpy as np
import pytest
from given_arrays import LAYOUTS, Exported

from ferrofuse import DataType, FusionDefinition


def view_of(make, rank=2, dtype=DataType.Float, contiguity=False):
    """A fusion whose one output re-indexes its input."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=contiguity, dtype=dtype)
        fd.add_output(make(fd, x))
    return fd


def transposed(fd, x):
    return fd.ops.permute(x, dims=[1, 0])


def test_a_view_of_an_array_has_it_as_its_base():
    array = np.arange(12, dtype=np.float32).reshape(3, 4).copy()
    [output] = view_of(transposed).execute([array])
    assert output.base is array and np.shares_memory(output, array)
    assert output.strides == array.T.strides and output.flags.writeable
    array[1, 2] = 100
    assert output[2, 1] == 100
    [same] = view_of(lambda fd, x: x).execute([array])
    assert same.base is array and same.strides == array.strides


def test_a_view_keeps_the_array_alive():
    array = np.arange(1 << 18, dtype=np.float32).reshape(512, 512).copy()
    watch = weakref.ref(array)
    expected = array.T.copy()
    [output] = view_of(transposed).execute([array])
    del array
    gc.collect()
    assert watch() is not None
    np.testing.assert_array_equal(output, expected)
    del output
    gc.collect()
    assert watch() is None


def test_a_view_of_an_array_of_another_library_keeps_it_alive():
    array = np.arange(12, dtype=np.float32).reshape(3, 4).copy()
    watch = weakref.ref(array)
    expected = array.T.copy()
    [output] = view_of(transposed).execute([Exported(array)])
    assert np.shares_memory(output, array)
    del array
    gc.collect()
    np.testing.assert_array_equal(output, expected)
    del output
    gc.collect()
    assert watch() is None


def test_a_view_of_a_read_only_array_is_read_only():
    array = np.frombuffer(np.arange(12, dtype=np.float32).tobytes(), np.float32).reshape(3, 4)
    [output] = view_of(transposed).execute([array])
    assert np.shares_memory(output, array) and not output.flags.writeable


def test_expanded_outputs_repeat_their_elements_and_are_read_only():
    column = np.arange(4, dtype=np.float32).reshape(4, 1)
    for make in [
        lambda fd, x: fd.ops.expand(x, shape=[4, 3]),
        lambda fd, x: fd.ops.expand(fd.ops.neg(fd.ops.neg(x)), shape=[4, 3]),
    ]:
        with FusionDefinition() as fd:
            x = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
            fd.add_output(make(fd, x))
        [output] = fd.execute([column])
        assert output.strides == (4, 0) and not output.flags.writeable
        np.testing.assert_array_equal(output, np.broadcast_to(column, (4, 3)))


# What is computed of x, four by three, and y, four by one, and its strides in elements.
STRIDES = {
    "permuted": (lambda fd, x, y: fd.ops.permute(x + y, [1, 0]), (1, 3)),
    "permuted twice": (lambda fd, x, y: fd.ops.permute(fd.ops.permute(x + y, [1, 0]), [1, 0]), (3, 1)),
    "permuted and split": (lambda fd, x, y: fd.ops.reshape(fd.ops.permute(x + y, [1, 0]), [3, 2, 2]), (1, 6, 3)),
    "permuted and joined": (lambda fd, x, y: fd.ops.reshape(fd.ops.permute(x + y, [1, 0]), [12]), (1,)),
    "in an order": (lambda fd, x, y: fd.ops.stride_order(fd.ops.permute(x + y, [1, 0]), [1, 0]), (4, 1)),
    "of expanded": (lambda fd, x, y: fd.ops.exp(fd.ops.expand(y, [4, 3])), (1, 0)),
    "of two expanded": (lambda fd, x, y: fd.ops.expand(y, [4, 3]) * fd.ops.expand(-y, [4, 3]) + 1.0, (1, 0)),
    "of expanded, permuted": (lambda fd, x, y: -fd.ops.permute(fd.ops.expand(y, [4, 3]), [1, 0]), (0, 1)),
    "of expanded, computed, permuted": (
        lambda fd, x, y: fd.ops.permute(fd.ops.exp(fd.ops.expand(y, [4, 3])), [1, 0]),
        (0, 1),
    ),
    "of one expanded": (lambda fd, x, y: fd.ops.expand(y, [4, 3]) * x, (3, 1)),
    "drawn": (lambda fd, x, y: fd.ops.rand_like(fd.ops.expand(y, [4, 3])) * 0.0, (3, 1)),
}


@pytest.mark.parametrize("name", STRIDES)
def test_strides_follow_the_definition(name):
    make, strides = STRIDES[name]
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[4, width], contiguity=True, dtype=DataType.Float) for width in (3, 1))
        fd.add_output(make(fd, x, y))
    inputs = [np.random.default_rng(0).standard_normal((4, width)).astype(np.float32) for width in (3, 1)]
    [output] = fd.validate(inputs)
    assert tuple(stride // 4 for stride in output.strides) == strides


@pytest.mark.parametrize("dtype", [DataType.Float, DataType.ComplexFloat])
def test_results_of_expanded_inputs_repeat(dtype):
    with FusionDefinition() as fd:
        weight = fd.define_tensor(shape=[-1, -1], contiguity=[None, True], dtype=dtype)
        fd.add_output(fd.ops.exp(weight))
        fd.add_output(fd.ops.sum(weight, dims=[1]))
    row = np.linspace(0, 1, 4).astype(np.float32 if dtype == DataType.Float else np.complex64)
    expanded = np.broadcast_to(row, (3, 4))
    exps, sums = fd.execute([expanded])
    assert exps.strides == (0, row.itemsize) and sums.strides == (0,)
    np.testing.assert_allclose(exps, np.exp(expanded), rtol=1e-5)
    np.testing.assert_allclose(sums, expanded.sum(axis=1), rtol=1e-5)
    # An array with another layout than declared is read in full.
    exps, sums = fd.execute([expanded.copy()])
    assert exps.strides == (4 * row.itemsize, row.itemsize) and sums.strides == (row.itemsize,)
    np.testing.assert_allclose(exps, np.exp(expanded), rtol=1e-5)


@pytest.mark.parametrize("lies_so", [True, False])
def test_outputs_follow_an_input_that_is_declared_channels_last(lies_so):
    with FusionDefinition() as fd:
        x = fd.define_tensor(
            shape=[-1, -1, -1, -1], contiguity=True, dtype=DataType.Float, stride_order=[3, 0, 2, 1]
        )
        bias = fd.define_tensor(shape=[1, -1, 1, 1], contiguity=[None, True, None, None], dtype=DataType.Float)
        fd.add_output(fd.ops.relu(x * bias))
        fd.add_output(fd.ops.cast(x, dtype=DataType.Double) + 1.0)
    image = np.random.default_rng(0).standard_normal((2, 4, 5, 3)).astype(np.float32).transpose(0, 3, 1, 2)
    scale = np.arange(3, dtype=np.float32).reshape(1, 3, 1, 1)
    scaled, wide = fd.execute([image if lies_so else np.ascontiguousarray(image), scale])
    assert scaled.strides == (240, 4, 60, 12) and wide.strides == (480, 8, 120, 24)
    np.testing.assert_array_equal(scaled, np.maximum(image * scale, 0))
    np.testing.assert_array_equal(wide, image.astype(np.float64) + 1)


def test_an_output_and_its_permute_have_memory_of_their_own():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x * 2.0)
        fd.add_output(fd.ops.permute(x * 2.0, [1, 0]))
        fd.add_output(fd.ops.permute(x * 2.0, [1, 0]))
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    straight, *transposed = fd.execute([array])
    for output in transposed:
        assert output.strides == (4, 16)
        np.testing.assert_array_equal(output, 2 * array.T)
    straight[:], transposed[0][:] = 0, 1
    np.testing.assert_array_equal(transposed[1], 2 * array.T)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views_of_any_layout(layout):
    array = LAYOUTS[layout](np.arange(5 * 6 * 7, dtype=np.float32).reshape(5, 6, 7))
    swapped = view_of(lambda fd, x: fd.ops.permute(x, dims=[2, 0, 1]), rank=3)
    [output] = swapped.execute([array])
    np.testing.assert_array_equal(output, array.transpose(2, 0, 1))
    # What is not aligned is copied to be read.
    assert np.shares_memory(output, array) == (layout not in ("unaligned", "empty"))


def test_a_number_is_copied():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float)
        fd.add_output(x)
    [output] = fd.execute([2.5])
    gc.collect()
    assert output == 2.5


def test_a_view_beside_an_output_in_place():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.neg(x), x)
        fd.add_output(transposed(fd, x))
        fd.add_output(transposed(fd, y))
    a, b = (np.arange(12, dtype=np.float32).reshape(3, 4) + k for k in (0, 1))
    old = a.copy()
    of_a, of_b = fd.execute([a, b])
    np.testing.assert_array_equal(a, -old)
    np.testing.assert_array_equal(of_a, old.T)
    assert np.shares_memory(of_b, b) and not np.shares_memory(of_a, a)


def test_memory_order():
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.stride_order(x, [0, 2, 1]))
        fd.add_output(fd.ops.stride_order(x + x, [2, 0, 1]))
    given, doubled_ = fd.execute([array])
    assert given.strides == (4, 32, 8) and doubled_.strides == (48, 4, 12)
    np.testing.assert_array_equal(given, array)
    np.testing.assert_array_equal(doubled_, array + array)
    assert not np.shares_memory(given, array)
