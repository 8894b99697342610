"""Tensors that feel like arrays: each formula gives on tensors what NumPy gives on arrays; what cannot be says why."""

import numpy as np
import pytest

import ferrofuse
from ferrofuse import ArgumentError, DataType, DefinitionError, FusionDefinition, TensorView
from ferrofuse.arrays.array_types import dtype_of
from ferrofuse.arrays.tensor_methods import UNARY

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
Y = np.full((1, 1, 1, 1), 3, np.float32)
INDEX = np.array([[2, 0], [1, 1]])


def run(formula, *arrays):
    with FusionDefinition() as fd:
        inputs = [
            fd.define_tensor(shape=[-1] * array.ndim, contiguity=True, dtype=dtype_of(array.dtype)) for array in arrays
        ]
        fd.add_output(formula(*inputs))
    return fd.execute(list(arrays))[0]


FORMULAS = {
    "new axis": lambda x: x[:, None],
    "slices": lambda x: x[1:, ::2],
    "last": lambda x: x[..., -1],
    "first": lambda x: x[0],
    "mixed": lambda x: x[-1, 1:, None, :2],
    "to before the last": lambda x: x[:, :-1],
    "from the end": lambda x: x[:, -2:],
    "nothing": lambda x: np.concatenate([x[:, 2:1], x[:, -1:-1], x[:, 9:3], x[:, :1]], axis=1),
    "nothing between both ends": lambda x: np.concatenate(
        [x[:, 2:-2], x[:, -1:1], x[:, 5:-1], x[:, -1:0], x[:, :-9], x[:, 2:-2:2], x[:, 1:-1]], axis=1
    ),
    "no rows": lambda x: x[5:-1],
    "backward": lambda x: x[::-1],
    "steps": lambda x: x[:, 1::2, ::3],
    "steps beyond the end": lambda x: x[..., :9:2] + x[:, 9:20:2].sum(),
    "steps of a part": lambda x: x[:, 1:3:2, -3::2],
    "parts of one": lambda x: x - x[:1] * x[:, 1:2] + x[..., -1:],
    "indices of NumPy's": lambda x: x[np.int64(1), :, : np.int8(2)],
    "element": lambda x: x[0, 1, 2] + x[..., 0],
    "T": lambda x: x.T,
    "sum": lambda x: x.sum(axis=1),
    "sum of all": lambda x: x.sum(),
    "mean": lambda x: x.mean(axis=(0, 2), keepdims=True),
    "std": lambda x: x.std(axis=0),
    "var": lambda x: x.var(axis=0, ddof=1),
    "max": lambda x: x.max(),
    "min": lambda x: x.min(axis=-1),
    "prod": lambda x: (x / 8).prod(axis=1),
    "any": lambda x: (x > 22).any(axis=2),
    "all": lambda x: (x > 2).all(axis=0),
    "argmax": lambda x: x.argmax(axis=1),
    "argmin of all": lambda x: x.argmin(),
    "argmax in place": lambda x: x.argmax(keepdims=True) + x.argmax(axis=np.int64(1), keepdims=True),
    "joined flat": lambda x: np.concatenate([x, x + 1], axis=None),
    "new axes": lambda x: np.expand_dims(x, (0, -1)),
    "cumsum": lambda x: x.cumsum(axis=1),
    "cumsum of all": lambda x: x.cumsum() + np.cumprod(x[0, 0] / 4).sum() + x[0, 0, 1].cumsum(),
    "over no axis": lambda x: x.sum(axis=()) + x.max(()) + x.mean(axis=(), keepdims=True) + (x.var(()) + x.prod(axis=())),
    "of one": lambda x: x[0, 0, 0].var() + x[0, 0, 1].std(keepdims=True) + x[1, 0, 0].sum(),
    "standardise": lambda x: (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6),
    "trailing axes": lambda x: x - x.sum(axis=0)[0],
    "reshape": lambda x: x.reshape(6, 4),
    "reshape by a list": lambda x: x.reshape((-1, 2)),
    "flatten": lambda x: x.flatten(),
    "transpose": lambda x: x.transpose(1, 0, 2),
    "swapaxes": lambda x: x.swapaxes(0, -1),
    "sizes": lambda x: x.sum(axis=0) / x.shape[0] + x.shape[-1] * len(x.shape) + sum(x.shape[1:]),
    "clip": lambda x: x.clip(2, 5),
    "squeeze": lambda x: x[:, None].squeeze(1),
    "matmul": lambda x: x[:, :, 0].T @ x[:, :, 1],
    "constant of one element": lambda x: x + np.array([2.0], np.float32),
    "constant from the left": lambda x: np.array([[2.0]], np.float32) * x,
    "constant of more axes": lambda x: (x + Y) * np.where(x > Y, x, Y).clip(Y[None], None) - np.minimum(Y[None], x),
    "choice of constants": lambda x: np.where(x > 3, Y, 2.0) > 2,
    "integers beyond 64 bits": lambda x: x * 2**64 + np.where(x > 1, x, -(2**70)) + x.clip(-(2**65), 2**65),
    "astype": lambda x: x.astype("float64" if isinstance(x, np.ndarray) else DataType.Double),
    "np.exp": lambda x: np.exp(x * 0.1),
    "np.subtract": lambda x: np.subtract(2.0, x),
    "np.where": lambda x: np.where(x > 3, x, 0.0),
    "np.maximum": lambda x: np.maximum(x, 3),
    "np.sum": lambda x: np.sum(x, axis=1),
    "np.amax": lambda x: np.amax(x, axis=0),
    "np.concatenate": lambda x: np.concatenate([x, x], axis=1),
    "np.expand_dims": lambda x: np.expand_dims(x, 1),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_numpys(name):
    got, expected = run(FORMULAS[name], X), FORMULAS[name](X)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.float16])
@pytest.mark.parametrize(
    "formula",
    [
        lambda x: x.var(axis=0),
        lambda x: x.std(axis=(0, 1), keepdims=True, ddof=1),
        lambda x: x.mean(),
        lambda x: x.cumsum(axis=1),
        lambda x: np.cumprod(x),
        lambda x: np.where(x, x, x[::-1]),
    ],
)
def test_other_dtypes_are_numpys(formula, dtype):
    array = np.random.default_rng(2).integers(0, 4, (5, 7)).astype(dtype)
    got, expected = run(formula, array), formula(array)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-2 if dtype is np.float16 else 1e-12)


@pytest.mark.parametrize(
    "formula",
    [
        lambda x, i: x[:, i],
        lambda x, i: x[0, i, 1:],
        lambda x, i: x[:, i[0], None, :2],
        lambda x, i: x[0, :, i],
        lambda x, i: x[None, i[0], :, None, 1],
        lambda x, i: x[:, i.astype(np.int8)],
    ],
)
def test_index_tensors_are_numpys(formula):
    np.testing.assert_array_equal(run(formula, X, INDEX % 2), formula(X, INDEX % 2))


def test_torchs_names_are_methods_too():
    np.testing.assert_array_equal(run(lambda x: x.mT, X), X.swapaxes(1, 2))
    np.testing.assert_array_equal(run(lambda x: x.permute(2, 0, 1), X), X.transpose(2, 0, 1))
    np.testing.assert_array_equal(run(lambda x: x.sum(dims=[0, 1], keepdim=True), X), X.sum((0, 1), keepdims=True))
    np.testing.assert_allclose(run(lambda x: x.std(0, correction=1), X), X.std(0, ddof=1), rtol=1e-5)
    assert run(lambda x: x.to(DataType.Half), X).dtype == np.float16
    assert run(lambda x: x.unsqueeze(-1), X).shape == (2, 3, 4, 1)
    for at in (4, -5):
        with pytest.raises(ArgumentError, match=rf"`unsqueeze`: argument `dim` must be from -4 to 3, but is {at}$"):
            run(lambda x: x.unsqueeze(at), X)


def test_ops_of_one_operand_are_methods():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        for name in UNARY:
            assert getattr(x, name)().is_tensor(), name
        fd.add_output(x.exp())
    assert all(f"fd.ops.{name}(" in repr(fd) for name in UNARY)


def test_parts_by_slices_are_views():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        for part in (x[1:], x[..., -1], x[:, None], x.T, x[0, 1:]):
            fd.add_output(part)
    array = X.reshape(6, 4)
    assert all(np.shares_memory(part, array) for part in fd.execute([array]))


UNKNOWN = "is known only when the definition runs"
NO_DTYPE = "`astype`: argument `dtype` must be a DataType, or .* one of bool, int8, .*, complex128, but is "
ON_A_TENSOR = "`{}` is not supported on a tensor of a definition: "
NO_VALUE = (
    r"an array \(ndarray of shape \[3\]\) is no value of a definition: declare an input for it, "
    r"fd.define_tensor\(shape=\[-1\], contiguity=True, dtype=DataType.Double\), and give it to the call"
)
MISTAKES = {
    "len": (lambda x: len(x), ON_A_TENSOR.format("len") + f"its size {UNKNOWN}; use x.size"),
    "iteration": (lambda x: list(x), ON_A_TENSOR.format("iter") + f"the number of its rows {UNKNOWN}"),
    "unpacking": (lambda x: [*x], ON_A_TENSOR.format("iter") + f"the number of its rows {UNKNOWN}"),
    "no list": (lambda x: np.concatenate(x), ON_A_TENSOR.format("iter") + ".*np.concatenate takes a list of such"),
    "text": (lambda x: x.astype(str), NO_DTYPE + "str"),
    "wide": (lambda x: x.astype(np.longdouble), NO_DTYPE + "longdouble"),
    "swapped": (lambda x: x.astype(">f4"), NO_DTYPE + "'>f4'"),
    "objects": (lambda x: x.to(np.dtype(object)), NO_DTYPE + r"dtype\('O'\)"),
    "no dtype": (lambda x: x.astype(None), NO_DTYPE + "None"),
    "a number for a dtype": (lambda x: x.astype(4), NO_DTYPE + "4"),
    "float": (lambda x: float(x), ON_A_TENSOR.format("float") + f"its value {UNKNOWN}"),
    "int": (lambda x: int(x), ON_A_TENSOR.format("int") + f"its value {UNKNOWN}"),
    "item": (lambda x: x.item(), ON_A_TENSOR.format("item") + f"its value {UNKNOWN}"),
    "in": (lambda x: 1 in x, ON_A_TENSOR.format("in") + f"the answer {UNKNOWN}"),
    "bool": (lambda x: 1 if x > 0 else 0, "no truth value before the definition runs: a branch on it cannot be taken"),
    "asarray": (lambda x: np.asarray(x), ON_A_TENSOR.format("array") + "it has no elements"),
    "assignment": (lambda x: x.__setitem__(0, 1), ON_A_TENSOR.format("x\\[…\\] = …") + "values of a definition never change; fd.ops.where"),
    "where": (lambda x: np.where(x > 0), "np.where takes a condition and two values to choose from"),
    "mask": (lambda x: x[x > 0], "how many elements a mask keeps is known only .* fd.ops.where"),
    "float index": (lambda x: x[x], "an index tensor must have integers, but has DataType.Float"),
    "too many": (lambda x: x[0, 0, 0, 0], "4 indices are given, but the tensor has 3 axes"),
    "a word": (lambda x: x["a"], "expected an int, a slice, None, `...` or a tensor of integers, got str"),
    "an array": (lambda x: x[INDEX], "got ndarray: an array of indices is an input of the definition"),
    "a step back": (lambda x: x[2:0:-1], "a slice with a negative step must have no bounds: slice first"),
    "no step": (lambda x: x[::0], "a step must be an integer other than 0, but is 0"),
    "two ellipses": (lambda x: x[..., 0, ...], "`...` may be given only once"),
    "an axis too many": (lambda x: x.swapaxes(0, 3), "`swapaxes`: argument `axis2` must be from -3 to 2, but is 3"),
    "an axis missing": (lambda x: x.cummax(), "`cummax`: argument `dim` must be an axis for a tensor of 3 axes, but none is given"),
    "a new axis too many": (lambda x: np.expand_dims(x, (0, 7)), "np.expand_dims: argument `axis` must be from -5 to 4, but is 7"),
    "a new axis too few": (lambda x: np.expand_dims(x, (-6, 0)), "np.expand_dims: argument `axis` must be from -5 to 4, but is -6"),
    "a new axis twice": (lambda x: np.expand_dims(x, [1, -4]), r"`axis` must name each axis once, but is \[1, -4\]"),
    "squeeze": (lambda x: x.squeeze(), "`squeeze` needs the axes to remove"),
    "array from the right": (lambda x: x + np.ones(3), "`add`: " + NO_VALUE),
    "array from the left": (lambda x: np.ones(3) + x, "`add`: " + NO_VALUE),
    "array in an op": (lambda x: ferrofuse.ops.add(x, np.ones(3)), NO_VALUE),
    "numpy's": (lambda x: np.linalg.inv(x), "np.linalg.inv is not supported on tensors of a definition"),
    "a reduction": (lambda x: np.add.reduce(x), "np.add.reduce is not supported on values of a definition"),
    "a shape": (lambda x: x.shape == (3, 3, 3), "`shape` of a tensor of a definition is known only when"),
    "a number of elements": (lambda x: x.size == 27, r"`size` .*: x.size\(0\) is a scalar of the definition"),
    "a product of sizes": (lambda x: 2 * x.size, "`size` of a tensor of a definition is known only when"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_impossible_uses_say_why_and_where(name):
    mistake, words = MISTAKES[name]
    line = mistake.__code__.co_firstlineno
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * 3, contiguity=True, dtype=DataType.Float)
        with pytest.raises(ArgumentError, match=f"^test_tensor_methods.py:{line}: .*{words}") as caught:
            mistake(x)
    assert caught.value.line == line


def test_dtypes_are_those_of_numpy_and_torch():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Double)
        assert x.dtype() == DataType.Double == x.dtype and x.dtype.itemsize == 8
        assert x.dtype == np.float64 and np.dtype("float64") == x.dtype and x.dtype == "float64" and x.dtype == float
        assert x.dtype != np.float32 and x.dtype != "double" and x.dtype != 5 and x.dtype != DataType.Float
        assert {x.dtype: 1}[x.exp().dtype] == 1 and str(x.dtype) == "float64" and len(x.size()) == 1
        assert x.exp().astype(x.dtype).dtype == x.dtype and f"{x.dtype:>9}" == "  float64"
        assert x.astype("float16").dtype == DataType.Half and x.to("bool").to("int64").dtype == DataType.Int
        for given in ("f8", "double", "half", "int", "i2", "?", "B", "c8", float, int, bool, complex, np.intc):
            assert x.astype(given).dtype == np.dtype(given), given
        assert ferrofuse.ops.cast(x, complex).dtype == complex != x.dtype
        with pytest.raises(ArgumentError, match="`astype`: argument `dtype` must be .*, but is 'floats'"):
            x.astype("floats")
        assert x.size(0).dtype == DataType.Int and x.size(0).dtype() == DataType.Int


def test_a_shape_is_a_list_of_sizes():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.full(x.shape, 2.0, x.dtype) + x)
        fd.add_output(fd.ops.reshape(x.T, x.shape))
        assert repr(x.shape) == "<the 2 sizes of a tensor, known when the definition runs>"
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    added, reshaped = fd.execute([array])
    assert np.array_equal(added, array + 2) and np.array_equal(reshaped, array.T.reshape(2, 3))


def test_places_keep_their_axis():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[2, 3], contiguity=True, dtype=DataType.Float)
        fd.add_output(x.argmax(dim=1, keepdim=True))
        fd.add_output(x.argmin(axis=1, keepdims=True))
        for op in (x.argmax, x.cumsum):
            with pytest.raises(TypeError, match="axis and dim are names of one argument"):
                op(0, dim=1)
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert [output.tolist() for output in fd.execute([array])] == [[[2], [2]], [[0], [0]]]


def test_one_element_has_no_variance_of_a_sample():
    assert np.isnan(run(lambda x: x[0].std(ddof=1), X[0, 0])) and np.isnan(run(lambda x: x.var((), ddof=1), X)).all()


def test_an_axis_is_named_once():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        with pytest.raises(TypeError, match="axis and dims are names of one argument"):
            x.sum(axis=0, dims=[0])
        with pytest.raises(ArgumentError, match=r"an axis must be an integer, but is a value of the definition: pass int\(axis\)"):
            x.sum(axis=x)
        with pytest.raises(DefinitionError, match=r"`sum`: argument `dims` must be a list of at least one axis, but is \[\]"):
            x.sum([])
        with pytest.raises(ArgumentError, match=r"exchanges the last two axes"):
            x.mT
    assert TensorView.sum.__doc__ == "`fd.ops.sum` over some or all axes."
