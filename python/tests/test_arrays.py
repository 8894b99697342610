"""Arrays in and out: dtypes, strides, sizes, scalars, lifetimes."""

import gc
import inspect
import sys
import weakref

import ml_dtypes
import numpy as np
import pytest

from ferrofuse import ArgumentError, DataType, FusionDefinition, InputError

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


class Exported:
    """An array seen only through DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


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


LAYOUTS = {
    "transposed": lambda a: a.transpose(2, 0, 1),
    "stepped": lambda a: a[::2, :, ::3],
    "reversed": lambda a: a[::-1, :, ::-1],
    "expanded": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "empty": lambda a: a[:, :0],
    "one": lambda a: a[:1, :1, :1],
    "readonly": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "unaligned": lambda a: np.frombuffer(b"." + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
}


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


def test_scalars_are_numbers_of_python_and_numpy():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x * fd.define_scalar(DataType.Double) + fd.define_scalar(DataType.Int))
    for two, one in ((2.0, 1), (2, True), (np.float32(2), np.int32(1)), (np.array(2.0), np.array(1))):
        [output] = fd.execute([np.ones(3, np.float32), two, one])
        np.testing.assert_array_equal(output, [3, 3, 3])


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


def test_wrong_inputs_are_refused():
    fd = doubled(1)
    good = np.ones(2, np.float32)
    with pytest.raises(InputError, match="expected 1 inputs, got 2"):
        fd.execute([good, good])
    with pytest.raises(ValueError, match=r"^input 0 \(line \d+\): expected dtype f32, got f64"):
        fd.execute([good.astype(np.float64)])
    with pytest.raises(ValueError, match="expected 1 axes, got 2"):
        fd.execute([good.reshape(1, 2)])
    with pytest.raises(TypeError, match=r"input 0 \(line \d+\): arrays of dtype int8 are not supported"):
        fd.execute([good.astype(np.int8)])
    with pytest.raises(TypeError, match=r"input 0 \(line \d+\): arrays of dtype >f4 are not supported"):
        fd.execute([good.astype(">f4")])
    with pytest.raises(TypeError, match="expected an array .* got float 1.0"):
        fd.execute([1.0])
    with pytest.raises(TypeError, match="expected an array .* got str"):
        fd.execute(["one"])
    with pytest.raises(NotImplementedError, match="GPUs are not run yet"):
        fd.execute([good], device="cuda:0")


TAKEN = [
    (DataType.Double, 2, 2.0),
    (DataType.Double, np.float32(0.5), 0.5),
    (DataType.Float, np.array(3), 3.0),
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


REFUSED = [
    (DataType.Double, 2.0 + 1j, "a real number for a scalar of dtype f64", "complex (2+1j)"),
    (DataType.Double, np.ones(3, np.float32), "a real number for a scalar of dtype f64", "ndarray of shape [3]"),
    (DataType.Float, "one", "a real number for a scalar of dtype f32", "str"),
    (DataType.Float, None, "a real number for a scalar of dtype f32", "NoneType"),
    (DataType.Int, 2.5, "an integer for a scalar of dtype i64", "float 2.5"),
    (DataType.Int, np.float32(2), "an integer for a scalar of dtype i64", "float32 2.0"),
    (DataType.Bool, 1, "True or False for a scalar of dtype bool", "int 1"),
    (DataType.ComplexDouble, [[1.0]], "a number for a scalar of dtype c128", "list"),
]


@pytest.mark.parametrize("dtype, given, expected, words", REFUSED)
def test_scalars_refuse_what_they_would_change(dtype, given, expected, words):
    fd, line = scaled_by(dtype)
    with pytest.raises(ArgumentError) as caught:
        fd.execute([given])
    error = caught.value
    assert (error.argument, error.expected, error.given) == (f"input 0 (line {line})", expected, words)
    assert str(error) == f"input 0 (line {line}): expected {expected}, got {words}"


@pytest.mark.parametrize("dtype, given", [(DataType.Int32, 2**31), (DataType.UInt64, -1), (DataType.Int, 2**63)])
def test_scalars_refuse_integers_beyond_them(dtype, given):
    fd, line = scaled_by(dtype)
    with pytest.raises(InputError, match=rf"^input 0 \(line {line}\): the number {given} is beyond"):
        fd.execute([given])


def test_a_tensor_without_axes_takes_numbers_alike():
    with FusionDefinition() as fd:
        fd.add_output(fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float) * 2.0)
    assert fd.execute([1.5])[0] == 3
    with pytest.raises(TypeError, match="expected a real number"):
        fd.execute([1j])


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


def view_of(make, rank=2, dtype=DataType.Float, contiguity=False):
    """A fusion whose one output re-indexes its input."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=contiguity, dtype=dtype)
        fd.add_output(make(fd, x))
    return fd


def turned(fd, x):
    return fd.ops.permute(x, dims=[1, 0])


def test_a_view_of_an_array_has_it_as_its_base():
    array = np.arange(12, dtype=np.float32).reshape(3, 4).copy()
    [output] = view_of(turned).execute([array])
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
    [output] = view_of(turned).execute([array])
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
    [output] = view_of(turned).execute([Exported(array)])
    assert np.shares_memory(output, array)
    del array
    gc.collect()
    np.testing.assert_array_equal(output, expected)
    del output
    gc.collect()
    assert watch() is None


def test_a_view_of_a_read_only_array_is_read_only():
    array = np.frombuffer(np.arange(12, dtype=np.float32).tobytes(), np.float32).reshape(3, 4)
    [output] = view_of(turned).execute([array])
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
def test_what_is_computed_of_expanded_inputs_repeats(dtype):
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
    # An array that lies otherwise than declared is read in full.
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
    straight, *turned = fd.execute([array])
    for output in turned:
        assert output.strides == (4, 16)
        np.testing.assert_array_equal(output, 2 * array.T)
    straight[:], turned[0][:] = 0, 1
    np.testing.assert_array_equal(turned[1], 2 * array.T)


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
        fd.add_output(turned(fd, x))
        fd.add_output(turned(fd, y))
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
