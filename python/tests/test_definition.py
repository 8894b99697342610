"""Definitions: calls, operators, what is rejected, printing and reading back."""

import inspect
import pickle
import pydoc
from pathlib import Path

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 once it is imported
import numpy as np
import pytest

import ferrofuse
from ferrofuse import ArgumentError, DataType, DefinitionError, FusionDefinition

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def vector(fd, dtype=DataType.Float):
    return fd.define_tensor(shape=[-1], contiguity=True, dtype=dtype)


def run(define, *inputs):
    with FusionDefinition() as fd:
        fd.add_output(define(fd))
    [output] = fd.execute(list(inputs))
    return output


X = np.array([-2.5, 0.0, 1.0, 7.0], np.float32)
Y = np.array([2.0, 3.0, -1.0, 0.5], np.float32)

OPERATORS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a % b,
    lambda a, b: abs(a) ** b,
    lambda a, b: -a + +b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: 2.0 - a,
    lambda a, b: 3 / b,
    lambda a, b: 2 * a + b * 3,
    lambda a, b: (a < b) & ~(b == a) | (a > 2),
]


@pytest.mark.parametrize("formula", OPERATORS)
def test_operators_are_numpys(formula):
    output = run(lambda fd: formula(vector(fd), vector(fd)), X, Y)
    expected = formula(X, Y)
    assert output.dtype == expected.dtype
    np.testing.assert_allclose(output, expected, rtol=1e-6)


def test_integer_operators():
    a, b = np.array([12, -7, 5]), np.array([3, 2, 1])
    for formula in (lambda a, b: a << b, lambda a, b: a >> b, lambda a, b: a ^ b, lambda a, b: ~a | b):
        output = run(lambda fd: formula(vector(fd, DataType.Int), vector(fd, DataType.Int)), a, b)
        np.testing.assert_array_equal(output, formula(a, b))


def test_an_operand_that_is_no_value_is_pythons_error():
    with FusionDefinition() as fd:
        x = vector(fd)
        for formula in (lambda: x + X, lambda: X + x, lambda: X < x):
            with pytest.raises(TypeError):
                formula()
        assert (np.float32(2) * x).is_tensor() and (x - np.int64(1)).is_tensor()
        with pytest.raises(TypeError, match="unsupported operand"):
            x + "one"
        with pytest.raises(TypeError, match="no truth value"):
            bool(x < 1)


def test_values_tell_what_they_are():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, 3], contiguity=True, dtype=DataType.BFloat16)
        s = fd.define_scalar(DataType.Double)
        c = fd.define_scalar(2.0)
        assert (x.ndim, x.dtype(), x.is_tensor()) == (2, DataType.BFloat16, True)
        assert (s.is_tensor(), s.is_symbolic(), c.is_symbolic()) == (False, True, False)
        assert len(x.shape()) == 2 and x.size(0).dtype() == DataType.Int
        assert len({x, s, c}) == 3


def test_ops_are_listed_with_signature_and_doc():
    with FusionDefinition() as fd:
        assert {"add", "sum", "broadcast_in_dim"} <= set(dir(fd.ops))
        assert str(inspect.signature(fd.ops.sum)) == "(arg, dims=None, keepdim=False, dtype=None)"
        for name in dir(fd.ops):
            op = getattr(fd.ops, name)
            for parameter in inspect.signature(op).parameters:
                assert f"    {parameter}" in op.__doc__, (name, parameter)
        text = pydoc.render_doc(fd.ops.sum, renderer=pydoc.plaintext)
        assert "sum(arg, dims=None, keepdim=False, dtype=None)" in text
        assert "dims (or `dim`): an int or a list of ints; None if not given" in text and "Raises:" in text


def test_rejections_say_what_is_wrong_and_are_caught_either_way():
    with FusionDefinition() as fd:
        x = vector(fd)
        with pytest.raises(AttributeError, match="did you mean `sum`"):
            fd.ops.summ
        with pytest.raises(ValueError, match="argument `dims` must be"):
            fd.ops.sum(x, dims=[3])
        with pytest.raises(TypeError, match="no parameter `dimz`; did you mean `dims`"):
            fd.ops.sum(x, dimz=0)
        with pytest.raises(ArgumentError, match="got dict"):
            fd.ops.sum({})
        with pytest.raises(DefinitionError, match="`output` must be a tensor"):
            fd.add_output(fd.define_scalar(1.0))
    with FusionDefinition() as other:
        with pytest.raises(DefinitionError, match="another FusionDefinition"):
            other.ops.neg(x)


def test_sizes_that_nothing_uses_reject_no_call():
    with FusionDefinition() as fd:
        number = fd.define_scalar(DataType.Double)
        fd.ops.iota(number)
        fd.ops.slice(vector(fd), [0], [number])
        with pytest.raises(ValueError):
            fd.ops.full([fd.ops.mul(number, 3.0), -1], 1.0, DataType.Float)
        fd.add_output(fd.ops.full([fd.ops.mul(number, 2.0)], number, DataType.Double))
    assert fd.execute([2.5, X])[0].tolist() == [2.5] * 5
    with pytest.raises(ValueError, match="a size comes out as 4.5, which is no whole number; `full` at test_definition.py:"):
        fd.execute([2.25, X])


KINDS = {
    "a list of floats for axes": lambda fd, x: fd.ops.permute(x, [0.0]),
    "a fraction for an axis": lambda fd, x: fd.ops.cumsum(x, 0.5),
    "a float for axes": lambda fd, x: fd.ops.var_mean(x, 0.0),
    "a string for an axis": lambda fd, x: fd.ops.sum(x, "rows"),
    "a list for a flag": lambda fd, x: fd.ops.sum(x, [0], [True]),
    "a number for a dtype": lambda fd, x: fd.ops.cast(x, 3),
    "a float for a size": lambda fd, x: fd.ops.reshape(x, [2.0, -1]),
    "nothing for an operand": lambda fd, x: fd.ops.neg(None),
    "a float for a declared size": lambda fd, x: fd.define_tensor(shape=[4.0]),
    "a number beyond 64 bits for a size": lambda fd, x: fd.define_tensor(shape=[2**63]),
    "a number for a flag of contiguity": lambda fd, x: fd.define_tensor(shape=[4], contiguity=[-1]),
}


@pytest.mark.parametrize("what", KINDS)
def test_an_argument_of_another_kind_is_a_type_error(what):
    with FusionDefinition() as fd:
        x = vector(fd)
        with pytest.raises(TypeError, match="argument `[a-z_]+` must be") as rejected:
            KINDS[what](fd, x)
    error = rejected.value
    assert isinstance(error, RuntimeError) and error.op and error.argument and error.expected and error.line


def test_ops_for_other_machines_say_so():
    with FusionDefinition() as fd:
        x = vector(fd)
        with pytest.raises(NotImplementedError, match="`scaled_mm` is for NVIDIA GPUs alone: it multiplies block-scaled"):
            fd.ops.scaled_mm(x, x, x, x)
        assert "scaled_mm" not in dir(fd.ops)


def test_an_empty_definition_is_not_run():
    with FusionDefinition() as fd:
        vector(fd)
    assert fd.validate_definition() == (False, "Fusion is empty!")
    with pytest.raises(NotImplementedError, match="Fusion is empty!"):
        fd.execute([X])


def test_without_a_with_block_there_is_no_definition():
    fd = FusionDefinition()
    does_not_exist = "Fusion does not exist! Use `with FusionDefinition"
    assert fd.validate_definition()[0] is False
    for call in (
        lambda: fd.execute([X]),
        lambda: fd.validate([X]),
        lambda: fd.explain(),
        lambda: fd.define_scalar(1.0),
        lambda: fd.ops.neg(1.0),
        lambda: vector(fd),
    ):
        with pytest.raises(NotImplementedError, match=does_not_exist):
            call()
    with fd:
        fd.add_output(fd.ops.neg(vector(fd)))
    assert fd.execute([X])[0][0] == 2.5


def test_dtypes_of_python_numpy_and_torch_spelling():
    for given in (np.float16, np.dtype("float16"), DataType.Half):
        assert run(lambda fd: fd.ops.cast(vector(fd), given), X).dtype == np.float16
    assert run(lambda fd: fd.ops.cast(vector(fd), int), X).dtype == np.int64
    assert pickle.loads(pickle.dumps(DataType.BFloat16)) == DataType.BFloat16
    assert repr(DataType.Null) == "DataType.Null" and len({DataType.Int, DataType.Int}) == 1


def test_vectors_and_nested_inputs():
    with FusionDefinition() as fd:
        x = vector(fd)
        sizes = fd.define_vector(2)
        fd.add_output(fd.ops.broadcast_in_dim(x, [sizes[0], sizes[1]], [1]))
    [output] = fd.execute([X, (3, 4)])
    np.testing.assert_array_equal(output, np.broadcast_to(X, (3, 4)))
    with FusionDefinition() as fd:  # as older scripts write constants
        fd.add_output(fd.ops.reshape(vector(fd), fd.define_vector([2, -1])))
    assert fd.execute([[X]])[0].shape == (2, 2)


def test_items_of_vectors():
    """`fd.ops.at` as nvFuser's older scripts have it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True)
        rows, one = fd.ops.at(fd.ops.shape(x), 0), fd.ops.at(fd.define_vector([2, 1]), index=-1)
        fd.add_output(fd.ops.reshape(fd.ops.sum(x, dims=[1]), [rows, one]))
        for vector_, index in ((fd.ops.shape(x), 2), (x, 0), (fd.ops.shape(x), 0.5)):
            with pytest.raises((ArgumentError, DefinitionError), match="test_definition.py:[0-9]+: `at`: argument `(index|vector)` must be"):
                fd.ops.at(vector_, index)
    np.testing.assert_array_equal(fd.execute([np.ones((3, 4), np.float32)])[0], np.full((3, 1), 4))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_printing_and_executing_gives_the_same_text(path):
    """Every example, through exec of its text: what it prints, executed, prints the same."""
    text = path.read_text().split("\ninputs = ")[0]
    once = defined(text)
    assert repr(defined(repr(once))) == repr(once)
    assert defined(repr(once)).fusion == once.fusion
    assert hash(defined(repr(once)).fusion) == hash(once.fusion)


def defined(text):
    names = {"FusionDefinition": FusionDefinition, "DataType": DataType}
    lines = [line for line in text.splitlines() if not line.startswith(("import ", "from "))]
    exec("\n".join(lines), names)
    [define] = [f for name, f in names.items() if inspect.isfunction(f)]
    with FusionDefinition() as fd:
        define(fd)
    return fd


def test_a_definition_without_outputs_prints_what_it_has():
    assert repr(FusionDefinition()).endswith(":\n    pass\n")
    with FusionDefinition() as fd:
        assert repr(fd).endswith(":\n    pass\n")
        x = fd.define_tensor(shape=[-1], contiguity=True)
        fd.ops.neg(x)
        lines = repr(fd).splitlines()
    assert [line.split(" = ")[0].strip() for line in lines[1:]] == ["tv0", "tv1"]


def test_version():
    assert ferrofuse.version() == ferrofuse.__version__
