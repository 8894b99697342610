"""`@ferrofuse.fuse`: functions of arrays, traced once for each combination of kinds."""

import functools
import pickle
import sys
from collections import OrderedDict, defaultdict, namedtuple

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 once it is imported
import numpy as np
import pytest

import ferrofuse
from ferrofuse import ArgumentError, DefinitionError, FusionDefinition, InputError

A = np.random.default_rng(9).standard_normal((6, 5)).astype(np.float32)


def counted(function):
    """The function, and how often it ran."""
    runs = Runs()

    @functools.wraps(function)
    def counting(*args):
        runs.number += 1
        return function(*args)

    return ferrofuse.fuse(counting), runs


class Runs:
    number = 0


def test_sizes_are_symbolic_and_ranks_and_dtypes_are_not():
    standardise, runs = counted(lambda x: (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6))
    for array in (A, A[:3], A.T, A[::2, ::-1]):
        np.testing.assert_allclose(standardise(array), (array - array.mean(0)) / (array.std(0) + 1e-6), rtol=1e-4, atol=1e-5)
    assert runs.number == 1
    assert standardise(A.astype(np.float64)).dtype == np.float64 and runs.number == 2
    assert standardise(A[0]).shape == (5,) and runs.number == 3


def test_axes_of_size_one_are_broadcast():
    add = ferrofuse.fuse(lambda x, y: x + y)
    for other in (A, A[:1], A[:, :1], A[0], A[:1, 0]):
        np.testing.assert_array_equal(add(A, other), A + other)


def test_floats_are_inputs_and_other_arguments_are_constants():
    def scaled(x, factor=2.0, axis=None, words=("a",)):
        return (x * factor).sum(axis=axis)

    function = ferrofuse.fuse(scaled)
    for factor in (2.0, 3.5):
        np.testing.assert_allclose(function(A, factor, axis=1), (A * np.float32(factor)).sum(1), rtol=1e-5)
    assert len(function._traced) == 1
    np.testing.assert_allclose(function(A, axis=0), (A * 2).sum(0), rtol=1e-5)
    assert len(function._traced) == 2


def test_constants_in_tuples_are_told_apart_by_type():
    scaled = ferrofuse.fuse(lambda x, by: x * by[0])
    results = [scaled(np.array([1, 2]), (by,)) for by in (2, 2.0, True, -0.0, 0.0)]
    assert [result.dtype.name for result in results] == ["int64", "float32", "int64", "float32", "float32"]
    assert [bool(np.signbit(result[0])) for result in results[3:]] == [True, False]


def test_constants_in_sets_are_told_apart_by_type():
    scaled = ferrofuse.fuse(lambda x, by: x * max(by))
    results = [scaled(np.array([1, 2]), frozenset({by})) for by in (1, 1.0, True, 1)]
    assert [result.dtype.name for result in results] == ["int64", "float32", "int64", "int64"] and len(scaled._traced) == 3


def test_each_set_of_axes_of_size_one_is_traced_once():
    doubled, runs = counted(lambda x: x * 2.0)
    for shape in ((6, 5), (1, 5), (6, 1), (1, 1), (3, 2), (1, 7), (7, 1), (1,), ()):
        array = np.ones(shape, np.float32)
        np.testing.assert_array_equal(doubled(array), array * 2)
    assert runs.number == 6


def test_a_traced_call_enters_few_functions_of_the_package():
    """Each takes as long as a tenth of an op of NumPy."""
    scaled, entered = ferrofuse.fuse(lambda x, y, by: x * by + y), []
    scaled(A, A, 2.0)
    sys.setprofile(lambda frame, event, argument: event == "call" and entered.append(frame.f_code.co_name))
    try:
        scaled(A, A, 3.0)
    finally:
        sys.setprofile(None)
    assert entered == ["call", "execute", "<lambda>"]


def test_types_are_constants():
    cast = ferrofuse.fuse(lambda x, dtype: x.astype(dtype))
    for dtype in (np.float32, np.int8, np.float16, np.dtype("f8"), float, "int32"):
        assert cast(A, dtype).dtype == np.dtype(dtype)


def test_parameters_may_be_given_by_name_alone():
    summed = ferrofuse.fuse(lambda x, *, axis=0: x.sum(axis=axis))
    assert [summed(A).shape, summed(A, axis=1).shape, summed(A).shape] == [(5,), (6,), (5,)]
    with pytest.raises(TypeError, match="too many positional arguments"):
        summed(A, 1)


def test_fused_functions_may_call_each_other():
    doubled = ferrofuse.fuse(lambda x: x * 2)
    np.testing.assert_array_equal(ferrofuse.fuse(lambda x: doubled(x) + 1)(A), A * 2 + 1)
    with pytest.raises(TypeError, match="takes a function written in Python, got <ufunc 'exp'>"):
        ferrofuse.fuse(np.exp)


def test_results_are_as_the_function_gives_them():
    pair = ferrofuse.fuse(lambda x: (x + 1.0, x * 2.0))
    named = ferrofuse.fuse(lambda x: {"sum": x.sum(), "same": x})
    first, second = pair(A)
    assert isinstance(pair(A), tuple) and np.array_equal(first, A + 1) and np.array_equal(second, A * 2)
    assert set(named(A)) == {"sum", "same"} and np.array_equal(named(A)["same"], A)
    assert isinstance(ferrofuse.fuse(lambda x: [x.exp()])(A), list)


Pair = namedtuple("Pair", "first second")


def test_results_keep_their_type():
    pair = ferrofuse.fuse(lambda x: Pair(second=x * 2.0, first=x))(A)
    assert type(pair) is Pair and np.array_equal(pair.first, A) and np.array_equal(pair.second, A * 2)
    ordered = ferrofuse.fuse(lambda x: OrderedDict(b=x, a=x * 2.0))
    assert type(ordered(A)) is OrderedDict and list(ordered(A)) == ["b", "a"] and np.array_equal(ordered(A)["a"], A * 2)
    grouped = ferrofuse.fuse(lambda x: defaultdict(list, same=x))(A)
    assert grouped["other"] == [] and np.array_equal(grouped["same"], A)
    assert type(ferrofuse.fuse(lambda x: type("Row", (list,), {})([x]))(A)).__name__ == "Row"


def test_definition_explanation_and_code_are_told():
    @ferrofuse.fuse
    def double(x, by=2.0):
        """Twice."""
        return x * by

    assert double.__doc__ == "Twice." and repr(double).endswith("double(x, by=2.0)>")
    double(A)
    assert isinstance(double.definition(), FusionDefinition) and "fd.ops.mul" in repr(double.definition(A, by=1.0))
    assert double.explain(A).to_dict()["segments"][0]["inputs"][0]["name"] == "x"
    assert "store" in double.lower(A) and "define" in double.lower(A, stage="llvm")
    double(A[0])
    with pytest.raises(ArgumentError, match="2 definitions were traced: give arguments to say which"):
        double.definition()


def test_methods_are_fused():
    class Model:
        @ferrofuse.fuse
        def run(self, x):
            return x * 2.0

    assert np.array_equal(Model().run(A), A * 2)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "formula",
    [
        lambda x, k: x == 0.1,
        lambda x, k: 0.1 < x,
        lambda x, k: (x[:, None] >= k) ^ np.not_equal(k, x),
        lambda x, k: x == 2049,
        lambda x, k: x == 0.1 + 1j,
        lambda x, k: k * 1j == x,
    ],
)
def test_numbers_are_rounded_before_comparisons(dtype, formula):
    x = np.array([0.1, 2048, 0.2], dtype)
    np.testing.assert_array_equal(ferrofuse.fuse(formula)(x, 0.1), formula(x, 0.1))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn"])
def test_numbers_are_rounded_to_other_small_floats(dtype):
    x = np.array([0.1], dtype)
    assert ferrofuse.fuse(lambda x, k: (x == 0.1) & (x == k))(x, 0.1).tolist() == [True]


def test_numbers_of_the_language_stay_as_they_are():
    with FusionDefinition() as fd:
        fd.add_output(fd.define_tensor(shape=[-1], contiguity=True, dtype=ferrofuse.DataType.Half) == 0.1)
    assert fd.execute([np.array([0.1], np.float16)])[0].tolist() == [False]


def test_arrays_of_one_element_keep_their_axes():
    y = np.full((1, 1, 1), 3.0)
    for formula in (lambda x, k: x + y, lambda x, k: k * y + x):
        np.testing.assert_allclose(ferrofuse.fuse(formula)(A, 2.0), formula(A, 2.0), rtol=1e-6)
        assert ferrofuse.fuse(formula)(A, 2.0).shape == (1, 6, 5)


def test_half_types_and_integers():
    double = ferrofuse.fuse(lambda x: x + x)
    assert double(np.arange(3)).tolist() == [0, 2, 4]
    assert double(np.ones(2, ml_dtypes.bfloat16)).tolist() == [2, 2]


SAVED, LIMITS = [], {"low": 0.0}


def appends(x):
    y = x + 1.0
    SAVED.append(y)
    return y


def assigns(x):
    LIMITS["low"] = x
    return x


def branches(x):
    if x.sum() > 0:
        return x
    return -x


def gives_nothing(x):
    x + 1.0


def gives_a_number(x):
    return x, 1.0


def takes_any(*arrays):
    return arrays[0]


def takes_two(x, y):
    return x


OTHERS = type("Tensor", (np.ndarray,), {"__module__": "torch"})
MISTAKES = {
    "appends": (lambda: ferrofuse.fuse(appends)(A), appends, 2, "it changes `SAVED`, which is defined outside of it"),
    "assigns": (lambda: ferrofuse.fuse(assigns)(A), assigns, 1, "it changes `LIMITS`, which is defined outside of it"),
    "branches": (lambda: ferrofuse.fuse(branches)(A), branches, 1, "no truth value before the definition runs"),
    "nothing": (lambda: ferrofuse.fuse(gives_nothing)(A), gives_nothing, 0, "it must return a tensor, or a tuple, list or dict of tensors, but returns NoneType"),
    "number": (lambda: ferrofuse.fuse(gives_a_number)(A), gives_a_number, 0, "it must return a tensor, .*, but result 1 is float"),
    "stars": (lambda: ferrofuse.fuse(takes_any), takes_any, 0, "must have named parameters, not"),
    "list": (lambda: ferrofuse.fuse(branches)([1.0]), branches, 0, "argument `x`: expected an array, .* got list"),
    "second": (lambda: ferrofuse.fuse(takes_two)(A, ([1.0],)), takes_two, 0, "argument `y`: expected an array, .* got tuple"),
    "dtype": (lambda: ferrofuse.fuse(branches)(A.astype(">i2")), branches, 0, "argument `x`: the dtype >i2 is not"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_rejected_with_their_line(name):
    mistake, function, offset, words = MISTAKES[name]
    line = function.__code__.co_firstlineno + offset
    with pytest.raises(ArgumentError, match=f"^test_fuse.py:{line}: .*{words}") as caught:
        mistake()
    assert caught.value.line == line
    SAVED.clear()
    LIMITS["low"] = 0.0


def test_libraries_are_not_mixed():
    add = ferrofuse.fuse(lambda x, y: x + y)
    with pytest.raises(ArgumentError, match="all arrays must be of one library, but are `x` of numpy, `y` of torch"):
        add(A, A.view(OTHERS))


def test_a_call_names_arguments_as_the_function_does():
    add = ferrofuse.fuse(lambda left, right: left + right)
    with pytest.raises(InputError, match=r"input 1 \(right\), axis 0: expected size 6 .* of input 0 \(left\)"):
        add(A, A[:4])
    with pytest.raises(TypeError, match="missing a required argument: 'right'"):
        add(A)
    with pytest.raises(DefinitionError, match="outside of `with fd:`"):
        left = add.definition(A, A).fusion.inputs()[0]
        left + 1.0


@ferrofuse.fuse
def doubled(x):
    return x * 2.0


def test_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert pickle.loads(pickle.dumps([Layer.scaled])) == [Layer.scaled]
    with pytest.raises((pickle.PicklingError, AttributeError), match="<lambda>"):
        pickle.dumps(ferrofuse.fuse(lambda x: x * 2.0))


class Layer:
    @ferrofuse.fuse
    def scaled(self, x):
        return x * 2.0
