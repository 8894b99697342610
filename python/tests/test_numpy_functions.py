"""NumPy's functions and methods on tensors give what they give on arrays; what they do not take says so, with the line."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import ferrofuse
from ferrofuse import ArgumentError, DataType, FusionDefinition
from ferrofuse.arrays.array_types import dtype_of
from ferrofuse.arrays.composed_ufuncs import UFUNCS
from ferrofuse.arrays.numpy_functions import FUNCTIONS

RANDOM = np.random.default_rng(5)
BEGIN = RANDOM.bit_generator.state
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 3e-5, 7.0, -1.0, 0.5, 2.0]
INTEGERS = (np.int8, np.uint8, np.int32, np.int64)
FLOATS = (np.float16, np.float32, np.float64)
TOLERANCES = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-13, "complex64": 2e-6}


@pytest.fixture(autouse=True)
def same_numbers_in_any_order_of_tests():
    RANDOM.bit_generator.state = BEGIN


def array(dtype, *shape):
    """Small numbers of a dtype, a fifth of the floats without a finite value or with a zero."""
    dtype = np.dtype(dtype)
    if dtype == bool:
        return RANDOM.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return RANDOM.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    found = (RANDOM.integers(-40, 40, shape) / 8).astype(dtype)
    places = RANDOM.random(shape) < 0.2
    found[places] = RANDOM.choice(SPECIAL[:5], np.count_nonzero(places))
    return found


def finite(dtype, *shape):
    with np.errstate(all="ignore"):
        return np.nan_to_num(array(dtype, *shape), nan=0.25, posinf=2.0, neginf=-3.0)


def run(formula, *arrays):
    with FusionDefinition() as fd:
        inputs = [
            fd.define_tensor(
                shape=[1 if size == 1 else -1 for size in array.shape], contiguity=True, dtype=dtype_of(array.dtype)
            )
            for array in arrays
        ]
        results = formula(*inputs)
        for result in results if isinstance(results, tuple) else (results,):
            fd.add_output(result)
    return fd.execute(list(arrays))


def require_numpys(formula, *arrays, tolerance=None, zeros=True):
    """The formula gives NumPy's shapes, dtypes and numbers on tensors, and zeros of the same sign unless `zeros` is false."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = formula(*arrays)
    for got, wanted in zip(run(formula, *arrays), expected if isinstance(expected, tuple) else (expected,)):
        wanted = np.asarray(wanted)
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        rtol = TOLERANCES.get(wanted.dtype.name, 0) if tolerance is None else tolerance
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol if wanted.dtype.kind in "fc" else 0)
        if zeros and wanted.dtype.kind == "f":
            at_zero = wanted == 0
            np.testing.assert_array_equal(np.signbit(got[at_zero]), np.signbit(wanted[at_zero]))


# Functions of one tensor of two axes, for all dtypes.
OF_ALL = {
    "argsort": lambda x: np.argsort(x, kind="stable") + x.argsort(0, kind="stable"),
    "argsort of all": lambda x: np.argsort(x, axis=None, kind="stable"),
    "broadcast_to": lambda x: np.broadcast_to(x[:, :1], (2, *x.shape)),
    "broadcast_to one shape": lambda x: np.broadcast_to(x[:1], x.shape),
    "concatenate": lambda x: np.concatenate([x, x[:1]], dtype=np.float64),
    "conj": lambda x: (x.conj(), x.conjugate()),
    "copy": lambda x: (np.copy(x), x.copy(order="C")),
    "count_nonzero": lambda x: np.count_nonzero(x, axis=-1, keepdims=True),
    "count_nonzero of all": lambda x: np.count_nonzero(x),
    "diag": lambda x: (np.diag(x), np.diag(x, 1), np.diag(x, -1), np.diag(x, 9), np.diag(x, -9)),
    "diag of a vector": lambda x: (np.diag(x[0]), np.diag(x[:, 0], 2), np.diag(x[0], -1)),
    "diagonal": lambda x: (x.diagonal(), np.diagonal(x, -1), x[None].diagonal(1, 1, 2), x.diagonal(axis1=1, axis2=0)),
    "dot of vectors": lambda x: np.where(x == x, x, 0)[0].dot(x[0] == x[0]),
    "empty_like": lambda x: np.zeros_like(np.empty_like(x)),
    "flip": lambda x: (np.flip(x), np.flip(x, 0), np.flip(x, (-1,))),
    "full_like": lambda x: (np.full_like(x, 2.7), np.full_like(x, np.float32(2)), np.full_like(x, np.array([3.5])), np.full_like(x, 3, dtype=np.int32), np.full_like(x, 1, shape=(2, 1))),
    "imag": lambda x: (np.imag(x), x.imag, x.real, np.real(x)),
    "isreal": lambda x: (np.isreal(x), np.isposinf(x), np.isneginf(x)),
    "moveaxis": lambda x: (np.moveaxis(x, 0, 1), np.moveaxis(x[None], (0, -1), (-1, 0))),
    "nan_to_num": lambda x: (np.nan_to_num(x), np.nan_to_num(x, nan=3.0, posinf=4.0, neginf=-5.0)),
    "nanmax": lambda x: (np.nanmax(x, axis=0), np.nanmin(x), np.nanmax(x, axis=(0, 1), keepdims=True)),
    "nansum": lambda x: np.nansum(x, axis=1) if np.dtype(str(x.dtype)).kind != "u" else x,
    "ones_like": lambda x: (np.ones_like(x), np.zeros_like(x), np.zeros_like(x, dtype=bool)),
    "pad": lambda x: (np.pad(x, 1), np.pad(x, ((0, 2), (1, 0)), constant_values=1), np.pad(x, (1, 2), "constant"), np.pad(x, ((1,), (2,)))),
    "pad with pairs": lambda x: np.pad(x, ((1, 2), (2, 1)), constant_values=((0, 1), (1, 0))),
    "pad with a fraction": lambda x: np.pad(x, 1, constant_values=1.7),
    "ravel": lambda x: (x.ravel(), np.ravel(x), x.T.ravel()),
    "repeat": lambda x: (np.repeat(x, 2), x.repeat(3, axis=0), np.repeat(x, 2, -1), x.repeat(0, 1), x.repeat(1)),
    "reshape": lambda x: (np.reshape(x, (-1,)), np.reshape(x, shape=(1, -1)), np.transpose(x, axes=(1, 0)), np.transpose(x)),
    "roll": lambda x: (np.roll(x, 2), np.roll(x, -1, 0), np.roll(x, 7, axis=1), np.roll(x, (1, -2), (0, 1)), np.roll(x, 1, (0, 1))),
    "sort": lambda x: (np.sort(x), np.sort(x, 0), np.sort(x, None, kind="stable")),
    "stack": lambda x: (np.stack([x, x]), np.stack((x, x), axis=-1), np.vstack([x, x]), np.hstack([x, x])),
    "stack of vectors": lambda x: (np.vstack([x[0], x[0]]), np.hstack([x[0], x[1]]), np.concatenate([x, x[0]], axis=None), np.vstack([x, x[0]])),
    "swapaxes": lambda x: np.swapaxes(x, 0, -1),
    "take": lambda x: (np.take(x, 1, axis=0), np.take(x, -2), x.take(0, axis=-1)),
    "take_along_axis": lambda x: (np.take_along_axis(x, np.zeros((1, 1), int), 0), np.take_along_axis(x, np.array([[1], [-1], [0]]), 1)),
    "tile": lambda x: (np.tile(x, 2), np.tile(x, (2, 1)), np.tile(x, (2, 1, 3)), np.tile(x[0], (2, 2)), np.tile(x, np.array([2]))),
    "tril": lambda x: (np.tril(x), np.tril(x, 1), np.tril(x, k=-1), np.tril(x[None], 9)),
    "triu": lambda x: (np.triu(x), np.triu(x, 1), np.triu(x, k=-1), np.triu(x[None], -9)),
}
# Functions that NumPy does not have of bools, or gives in f16.
OF_NUMBERS = {
    "clip": lambda x: np.clip(x, a_min=1, a_max=3),
    "diff": lambda x: (np.diff(x), np.diff(x, axis=0), np.diff(x, 2), np.diff(x, n=0)),
    "initial": lambda x: (x.max(initial=5), x.min(0, initial=1), np.max(x, axis=1, initial=2)),
    "outer": lambda x: np.outer(x[0], x),
    "ptp": lambda x: (np.ptp(x), np.ptp(x, axis=0), np.ptp(x, 1, keepdims=True)),
    "round": lambda x: (np.round(x), x.round()),
    "square": lambda x: np.square(x) if x.dtype != np.float16 else x,
}


@pytest.mark.parametrize("dtype", [np.bool_, *INTEGERS, *FLOATS], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", OF_ALL)
def test_functions_are_numpys(name, dtype):
    require_numpys(OF_ALL[name], array(dtype, 3, 5))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_functions_of_numbers_are_numpys(name, dtype):
    require_numpys(OF_NUMBERS[name], array(dtype, 3, 5))


# Functions that compute in floats.
OF_FLOATS = {
    "average": lambda x: (np.average(x), np.average(x, axis=0)),
    "isclose": lambda x: (np.isclose(x, x[::-1]), np.isclose(x, x[0]), np.isclose(x, 1.5, atol=1), np.isclose(x, x, equal_nan=True)),
    "isclose to a number": lambda x: (np.isclose(1, x, rtol=0.5), np.allclose(x, x), np.allclose(x, x, equal_nan=True)),
    "nanmean": lambda x: (np.nanmean(x), np.nanmean(x, axis=0, keepdims=True), abs(np.nanmean(x, axis=()))),
    "nanprod": lambda x: (np.nanprod(x, axis=1), np.nanprod(x, initial=0.5)),
    "nanstd": lambda x: (np.nanstd(x, axis=0, ddof=1), np.nanvar(x, axis=1), np.nanvar(x, ddof=30), np.nanvar(x, axis=1, keepdims=True)),
    "norm": lambda x: (np.linalg.norm(x), np.linalg.norm(x, axis=1), np.linalg.norm(x, axis=0, keepdims=True), np.linalg.norm(x, "fro")),
    "norms of vectors": lambda x: tuple(np.linalg.norm(x, ord, 1) for ord in (1, 2, np.inf, -np.inf, 0, 3)),
    "norms of matrices": lambda x: tuple(np.linalg.norm(x[None], ord, (1, 2), keepdims=ord > 0) for ord in (1, -1, np.inf, -np.inf)),
    "norm of a vector": lambda x: (np.linalg.norm(x[0], 2), np.linalg.norm(x[0], np.inf)),
    "round to decimals": lambda x: (np.round(x, 2), np.round(x, decimals=-1), x.round(1), np.around(x, 1)),
    "trace": lambda x: (np.trace(x), x.trace(1), np.trace(x, dtype=np.float64)),
}


@pytest.mark.parametrize("special", [False, True], ids=["finite", "special"])
@pytest.mark.parametrize("dtype", [np.int32, *FLOATS], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", OF_FLOATS)
def test_functions_of_floats_are_numpys(name, dtype, special):
    x = array(dtype, 4, 6) if special else finite(dtype, 4, 6)
    require_numpys(OF_FLOATS[name], x, tolerance=4e-3 if dtype is np.float16 else 1e-5 if dtype is np.float32 else None)


EMPTY = {
    name: OF_ALL[name]
    for name in """argsort copy count_nonzero flip imag isreal moveaxis nan_to_num nansum ones_like pad ravel
    repeat roll sort stack swapaxes tril triu""".split()
}


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 4), (4, 1)], ids=str)
@pytest.mark.parametrize("name", EMPTY)
def test_functions_of_no_and_of_single_rows_are_numpys(name, shape):
    require_numpys(EMPTY[name], array(np.float32, *shape), zeros=name != "nansum")


DTYPES = {
    "sum": lambda x: (x.sum(dtype=np.float64), np.sum(x, 0, np.float32), x.sum(1, dtype=np.int32), x.sum(dtype=bool)),
    "prod": lambda x: (x.prod(dtype=np.float64), np.prod(x, axis=1, dtype=np.int64)),
    "mean": lambda x: (x.mean(dtype=np.float64), np.mean(x, axis=-1, dtype=np.float64), x.mean(0, np.float32), x.mean(dtype=int)),
    "cumsum": lambda x: (x.cumsum(dtype=np.float64), np.cumsum(x, axis=1, dtype=np.float64), x.cumsum(0, np.int32)),
    "cumprod": lambda x: x.cumprod(axis=1, dtype=np.float64),
    "var": lambda x: (x.var(dtype=np.float64), np.std(x, axis=0, dtype=np.float64, ddof=1), x.std(1, np.float64)),
    "trace": lambda x: np.trace(x, dtype=np.float64),
    "nansum": lambda x: (np.nansum(x, dtype=np.float64), np.nanmean(x, dtype=np.float64)),
    "initial": lambda x: (x.sum(initial=1.5, dtype=np.float64), np.prod(x, initial=2, dtype=np.float64)),
    "initial of its own": lambda x: (np.sum(x, axis=0, initial=1), np.prod(x, axis=1, initial=2.5)),
    "nothing": lambda x: (np.sum(x, dtype=None, out=None, where=True), np.max(x, out=None), np.reshape(x, -1, order="C")),
}


@pytest.mark.parametrize("dtype", [np.int8, np.int32, *FLOATS], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", DTYPES)
def test_folds_in_another_dtype_are_numpys(name, dtype):
    # Halves add up to what f16 holds in any order.
    require_numpys(DTYPES[name], (RANDOM.integers(-4, 5, (3, 4)) / (1 if np.dtype(dtype).kind == "i" else 2)).astype(dtype))


def test_torchs_names_of_axes_are_taken():
    x = finite(np.float32, 3, 4)
    for name in ("sum", "prod", "max", "min", "mean", "var", "std"):
        (got,) = run(lambda x: getattr(x, name)(dim=1, keepdim=True), x)
        np.testing.assert_allclose(got, getattr(x, name)(axis=1, keepdims=True), rtol=1e-4)
    (got,) = run(lambda x: (x > 0).any(dim=-1) & (x > -9).all(dim=[1]), x)
    np.testing.assert_array_equal(got, (x > 0).any(-1))


# Ufuncs of one operand, and of two.
ONE = {name: getattr(np, name) for name in sorted(UFUNCS) if getattr(np, name).nin == 1}
TWO = {name: getattr(np, name) for name in sorted(UFUNCS) if getattr(np, name).nin == 2}
NOT_OF_BOOLS = ("positive",)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int16, np.int32, np.uint64, *FLOATS], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", ONE)
def test_ufuncs_of_one_operand_are_numpys(name, dtype):
    if dtype is not np.bool_ or name not in NOT_OF_BOOLS:
        require_numpys(ONE[name], array(dtype, 40))


def test_the_cube_root_is_exact_enough():
    x = np.concatenate([np.arange(-30, 30) ** 3.0, 10.0 ** np.arange(-320, 309, 3), [1.7976931348623157e308, 5e-324], -np.exp(RANDOM.normal(size=500) * 50)])
    require_numpys(np.cbrt, x, tolerance=5e-16)
    require_numpys(np.cbrt, x[np.abs(x) < 1e38].astype(np.float32), tolerance=1.3e-7)


PAIRS = [
    (np.bool_, np.bool_), (np.int8, np.int8), (np.uint8, np.int8), (np.int32, np.int32), (np.int64, np.int32), (np.int32, np.float32),
    (np.float16, np.float16), (np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float32), (np.float64, np.float64),
]  # fmt: skip


@pytest.mark.parametrize("dtypes", PAIRS, ids=lambda pair: "-".join(dtype.__name__ for dtype in pair))
@pytest.mark.parametrize("name", TWO)
def test_ufuncs_of_two_operands_are_numpys(name, dtypes):
    x, y = array(dtypes[0], 12, 12), array(dtypes[1], 12, 12)
    if all(np.dtype(dtype).kind == "f" for dtype in dtypes):
        x[:, :], y[:, :] = np.array(SPECIAL)[:, None].astype(x.dtype), np.array(SPECIAL)[None].astype(y.dtype)
    if name == "divmod" and np.result_type(*dtypes).kind in "iub":
        y[y == 0] = 1  # the remainder of the language's by 0 is the dividend
    require_numpys(TWO[name], x, y, zeros=name not in ("fmax", "fmin"))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, *FLOATS], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", TWO)
def test_ufuncs_of_tensors_and_numbers_are_numpys(name, dtype):
    x = array(dtype, 5, 7)
    ufunc = TWO[name]
    for other in (2, -3, 0.5, np.float64(1.5), np.array([[[2]]])):
        other = other if not isinstance(other, (np.generic, np.ndarray)) else other.astype(dtype)
        require_numpys(lambda x: ufunc(x, other), x)
        if name != "float_power":
            require_numpys(lambda x: ufunc(other, np.where(x == 0, 1, x)), x)


def test_divisions_are_operators():
    x, y = finite(np.float32, 20) * 3, np.where(finite(np.float32, 20) > 0, 1.75, -0.5).astype(np.float32)
    require_numpys(lambda x, y: (x // y, x // 2, 7.5 // y, *divmod(x, y), *divmod(x, -3), *divmod(5, y)), x, y)
    i, j = array(np.int32, 30), np.where(array(np.int32, 30) > 0, 3, -4).astype(np.int32)
    require_numpys(lambda i, j: (i // j, i // -2, 100 // j, *divmod(i, j)), i, j)
    ends = np.array([-(2**31), 2**31 - 1, -(2**31)], np.int32)
    require_numpys(lambda i, j: i // j, ends, np.array([3, -3, 0], np.int32))
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(x[: x.shape[0] // 2])
        with pytest.raises(TypeError, match="unsupported operand"):
            x // "a"
    assert fd.execute([np.ones(7, np.float32)])[0].shape == (3,)


def test_exact_quotients_are_floored_as_numpys():
    x = np.array([1e10, 0.3, 1.0, -1.0, 6.0, 2.1, -7.3e5, 1e30], np.float64)
    y = np.array([0.3, 0.1, 0.1, 0.1, -2.0, 0.7, 1e-3, 7.0], np.float64)
    for dtype in (np.float64, np.float32):
        require_numpys(lambda x, y: divmod(x, y), x.astype(dtype), y.astype(dtype))


def test_complex_numbers_have_parts():
    x = (RANDOM.normal(size=(3, 4)) + 1j * RANDOM.normal(size=(3, 4)).round()).astype(np.complex64)
    require_numpys(lambda x: (x.real, x.imag, np.real(x), np.imag(x), x.conj(), np.conj(x), np.conjugate(x)), x)
    require_numpys(lambda x: (np.isreal(x), np.linalg.norm(x, axis=1), np.round(x, 1), np.pad(x, 1, constant_values=2)), x)
    require_numpys(lambda x: (np.nan_to_num(x), np.isclose(x, x), np.triu(x), np.tril(x), np.diag(x)), x)


def test_dtypes_are_joined_as_numpys():
    x, y, z = array(np.float32, 3), array(np.int64, 3), array(np.float64, 3)
    require_numpys(lambda x, y, z: (np.stack([x, y]), np.hstack([x, z]), np.concatenate([y, x, z]), np.outer(x, y)), x, y, z)
    require_numpys(lambda x, y, z: np.dot(np.nan_to_num(x, posinf=0, neginf=0), np.nan_to_num(z, posinf=0, neginf=0)), x, y, z, tolerance=1e-12)


def test_products_are_numpys():
    a, b = finite(np.float64, 3, 4), finite(np.float64, 4, 5)
    require_numpys(lambda a, b: (np.dot(a, b), a.dot(b[:, 0]), a[0].dot(b), np.dot(a, 2.0), np.dot(a[0], b[:, 1])), a, b, zeros=False)
    require_numpys(lambda a, b: (np.dot(a[None], b), np.dot(a[0, 0], b)), a, b, zeros=False)


def test_elements_are_taken_by_tensors():
    x, index = array(np.float32, 3, 4), np.array([[0, -1, 2, 1], [3, -4, 0, 0], [1, 1, 1, -2]])
    require_numpys(lambda x, index: (np.take_along_axis(x, index, 1), np.take_along_axis(x, index), x[np.newaxis]), x, index)
    require_numpys(lambda x, index: np.take_along_axis(x, np.argsort(x, axis=1, kind="stable"), axis=1), x, index)
    require_numpys(lambda x, index: (np.take(x, index + 4), np.take(x, abs(index) % 3, axis=0), x.take(abs(index)[0], -1)), x, index)
    require_numpys(lambda x, index: np.take_along_axis(x, np.array([3, -1, 0]), None), x, index)
    require_numpys(lambda x, index: np.take_along_axis(x, np.zeros((3, 0), int), 1), x, index)


def test_a_copy_shares_no_memory():
    x = array(np.float32, 3, 4)
    for copy in (lambda x: x.copy(), lambda x: x.T.copy(), lambda x: np.copy(x[1:])):
        assert not np.shares_memory(run(copy, x)[0], x)


def test_bf16_keeps_its_dtype():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
        for made in (np.logaddexp(x, x), np.heaviside(x, 0.5), np.cbrt(x), x // 2, np.round(x, 1), x.sum(initial=1), np.ptp(x)):
            assert made.dtype == DataType.BFloat16
        assert np.copysign(x, x.astype(np.float32)).dtype == np.float32 == np.stack([x, x.astype(np.float16)]).dtype
        assert np.nan_to_num(x).dtype == DataType.BFloat16 and np.float_power(x, 2).dtype == np.float64


ARRAY = np.ones(3, np.float32)
SUM_TAKES = "it takes axis, dtype, keepdims, initial, dims, dim, keepdim"
MISTAKES = [
    (lambda x: x.sum(where=x > 0), f"`sum`: keyword `where` is not supported: leave elements out with np.where(mask, x, …) before it; {SUM_TAKES}"),
    (lambda x: np.sum(x, out=ARRAY), f"np.sum: keyword `out` is not supported: the result is a new tensor, which has no memory before the definition runs; it takes a, {SUM_TAKES[9:]}"),
    (lambda x: x.reshape((5, 4), order="F"), "`reshape`: keyword `order` is not supported: elements are in row-major order; it takes shape"),
    (lambda x: x.sum(axes=1), f"`sum`: keyword `axes` is not supported: {SUM_TAKES}"),
    (lambda x: x.max(dtype=float), "`max`: keyword `dtype` is not supported: x.astype(dtype) converts; it takes axis, keepdims, initial, dims, dim, keepdim"),
    (lambda x: x.exp(2), "`exp`: too many positional arguments; it takes no arguments"),
    (lambda x: x.repeat(), "`repeat`: missing a required argument: 'repeats'; it takes repeats, axis"),
    (lambda x: np.exp(x, out=ARRAY), "np.exp: keyword `out` is not supported: the result is a new tensor, which has no memory before the definition runs; it takes x"),
    (lambda x: np.add(x, x, dtype=float), "np.add: keyword `dtype` is not supported: x.astype(dtype) converts; it takes x1, x2"),
    (lambda x: x.sum(dtype="floats"), "`sum`: argument `dtype` must be a DataType, or NumPy's or torch's dtype or the name of one of bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float8_e8m0fnu, float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64, complex64, complex128, but is 'floats'"),
    (lambda x: x.var(0, 1), "`var`: argument `dtype` must be a DataType, or NumPy's or torch's dtype or the name of one of bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float8_e8m0fnu, float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64, complex64, complex128, but is 1"),
    (lambda x: x.std(dtype=int), "`std`: argument `dtype` must be one of floats, but is int64"),
    (lambda x: x.sum(axis=0, dim=1), "axis and dim are names of one argument: give one of them"),
    (lambda x: np.clip(x, a_min=0, min=1), "min and a_min are names of one argument: give one of them"),
    (lambda x: np.flip(x, 2), "np.flip: argument `axis` must be from -2 to 1, but is 2"),
    (lambda x: np.flip(x, (0, -2)), "np.flip: argument `axis` must name each axis once, but is (0, -2)"),
    (lambda x: np.roll(x, 1.5, 0), "np.roll: argument `shift` must be an integer, but is 1.5"),
    (lambda x: np.roll(x, x.size(0), 0), "np.roll: argument `shift` must be an integer, but is a value of the definition"),
    (lambda x: np.roll(x, (1, 2, 3), (0, 1)), "np.roll: 3 shifts are given for 2 axes"),
    (lambda x: np.repeat(x, -1), "`repeat`: argument `repeats` must not be negative, but is -1"),
    (lambda x: np.repeat(x, [1, 2], 0), "`repeat`: argument `repeats` must be an integer, but is [1, 2]"),
    (lambda x: np.sum(x)[None].diagonal(), "`diagonal`: argument `axis` must be from -1 to 0, but is 1"),
    (lambda x: np.flip(x.sum(), 0), "np.flip: argument `axis` is 0, but the tensor has no axes"),
    (lambda x: np.pad(x, 1, mode="edge"), "np.pad: argument `mode` must be 'constant', but is 'edge': np.concatenate adds other elements"),
    (lambda x: np.pad(x, ((1, 1),) * 3), "np.pad: argument `pad_width` must be a number, a pair, or a pair for each of 2 axes, but is ((1, 1), (1, 1), (1, 1))"),
    (lambda x: np.pad(x, -1), "np.pad: argument `pad_width` must not be negative, but is -1"),
    (lambda x: np.stack([x, x.sum()]), "np.stack: tensors must have the same number of axes, but have [2, 0]"),
    (lambda x: np.stack([x, ARRAY]), "np.stack: argument `arrays` must be a tensor of the definition, but is ndarray: an array is an input of the definition"),
    (lambda x: np.take_along_axis(ARRAY, x, 0), "np.take_along_axis: argument `arr` must be a tensor of the definition, but is ndarray: an array is an input of the definition"),
    (lambda x: np.take_along_axis(x, np.zeros((1, 65), int), 1), "np.take_along_axis: an array of 65 indices is an input of the definition; up to 64 are constants"),
    (lambda x: np.take_along_axis(x, ARRAY, 1), "np.take_along_axis: argument `indices` must have integers, but has float32"),
    (lambda x: np.take_along_axis(x, np.array([1]), 1), "np.take_along_axis: argument `indices` must have 2 axes, but has 1"),
    (lambda x: np.sort(x, kind="bubble"), "np.sort: argument `kind` must be one of quicksort, heapsort, mergesort, stable, but is 'bubble'"),
    (lambda x: np.linalg.norm(x, 2), "np.linalg.norm: argument `ord` must be None, 'fro', 1, -1, inf or -inf for a matrix, but is 2 for 2 axes: singular values are no op"),
    (lambda x: np.linalg.norm(x, "fro", 1), "np.linalg.norm: argument `ord` must be a number for a vector, but is 'fro'"),
    (lambda x: np.dot(x, x[None]), "`dot` of tensors of 2 and 3 axes is not supported: a @ b multiplies batches of matrices"),
    (lambda x: np.average(x, weights=x), "np.average: keyword `weights` is not supported: divide (a * weights).sum(axis) by weights.sum(axis)"),
    (lambda x: np.broadcast_to(x, (3,)), "np.broadcast_to: argument `shape` must have 2 sizes or more, but has 1"),
    (lambda x: np.triu(x[0]), "np.triu takes a tensor of two axes or more, but it has 1"),
    (lambda x: np.diag(x[None]), "np.diag takes a tensor of one axis or two, but it has 3"),
    (lambda x: np.moveaxis(x, (0, 1), 1), "np.moveaxis: 2 axes cannot move to 1 places"),
    (lambda x: np.round(x > 0), "`round` takes numbers, but has bool"),
    (lambda x: np.positive(x > 0), "np.positive is not defined for bool"),
    (lambda x: np.heaviside(x, 1j), "np.heaviside is not defined for float32 and complex"),
    (lambda x: np.nanvar(x + 1j), "np.nanvar takes real numbers, but has complex64"),
    (lambda x: np.median(x), "np.median is not supported on tensors of a definition: use np.sort and x[…]"),
    (lambda x: np.partition(x, 2), "np.partition is not supported on tensors of a definition: use fd.ops.topk"),
    (lambda x: np.nonzero(x), "np.nonzero is not supported on tensors of a definition: the size of the result is known only when the definition runs"),
    (lambda x: np.linalg.trace(x), "np.linalg.trace is not supported on tensors of a definition: dir(fd.ops) lists the ops"),
    (lambda x: np.add.reduce(x), "np.add.reduce is not supported on values of a definition: use np.sum(x)"),
    (lambda x: np.spacing(x), "np.spacing is not supported on values of a definition: dir(fd.ops) lists the ops"),
    (lambda x: x.view(np.int32), "`view` is not supported on a tensor of a definition: its bits cannot be read as another dtype; x.astype(dtype) converts numbers, x.reshape(…) gives another shape"),
    (lambda x: x.fill(0), "`fill` is not supported on a tensor of a definition: values of a definition never change; np.full_like(x, value) makes a tensor of one value"),
    (lambda x: x.sort(), "`sort` is not supported on a tensor of a definition: values of a definition never change; np.sort(x) makes a sorted tensor"),
    (lambda x: x.nbytes, "`nbytes` is not supported on a tensor of a definition: its size is known only when the definition runs; x.size(0) is a scalar of the definition, and x.dtype.itemsize a number"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_what_is_not_taken_says_why_and_where(number):
    mistake, message = MISTAKES[number]
    line = mistake.__code__.co_firstlineno
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        with pytest.raises(ArgumentError) as caught:
            mistake(x)
    assert (str(caught.value), caught.value.line) == (f"test_numpy_functions.py:{line}: {message}", line)


def test_the_page_names_the_functions():
    page = (Path(__file__).parents[2] / "docs" / "fuse.md").read_text()
    part = page.split("## NumPy's functions\n")[1].split("\n## ")[0]
    blocks = [set(block.split()) for block in part.split("```")[1::2]]
    assert blocks == [set(FUNCTIONS), set(UFUNCS)]


def test_a_fused_function_is_written_with_numpy():
    @ferrofuse.fuse
    def smoothed(x):
        padded = np.pad(x, ((0, 0), (1, 1)))
        return np.stack([padded[:, :-2], x, padded[:, 2:]]).mean(axis=0)

    x = finite(np.float64, 3, 5)
    padded = np.pad(x, ((0, 0), (1, 1)))
    np.testing.assert_allclose(smoothed(x), (padded[:, :-2] + x + padded[:, 2:]) / 3)
