"""What the definition language has beyond plain calls: in-place outputs, random numbers, lambdas, complex numbers, faults."""

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 once it is imported
import numpy as np
import pytest

import ferrofuse
from ferrofuse import DataType, DefinitionError, FusionDefinition


def vector(fd, dtype=DataType.Float):
    return fd.define_tensor(shape=[-1], contiguity=True, dtype=dtype)


def test_outputs_are_written_in_place():
    with FusionDefinition() as fd:
        x, y = vector(fd), vector(fd)
        fd.add_output(x + y, x)
        fd.add_output(x - y)
    a, b = np.array([1, 2, 3], np.float32), np.ones(3, np.float32)
    [difference] = fd.execute([a, b])
    np.testing.assert_array_equal(difference, [0, 1, 2])
    np.testing.assert_array_equal(a, [2, 3, 4])
    with pytest.raises(ValueError, match="read"):
        fd.execute([np.frombuffer(a.tobytes(), np.float32), b])


def test_draws_follow_the_seed():
    with FusionDefinition() as fd:
        shape = [fd.define_scalar(DataType.Int)]
        fd.add_output(fd.ops.uniform(0.0, 1.0, shape))
    with FusionDefinition() as stateless:
        seed, offset = stateless.define_scalar(DataType.Int), stateless.define_scalar(DataType.Int)
        shape = [stateless.define_scalar(DataType.Int)]
        stateless.add_output(stateless.ops.uniform(0.0, 1.0, shape, rng_seed=seed, rng_offset=offset))
    ferrofuse.manual_seed(7)
    for offset in range(3):
        assert ferrofuse.get_rng_state() == (7, offset)
        [drawn] = fd.execute([9])
        np.testing.assert_array_equal(drawn, stateless.execute([7, offset, 9])[0])
    ferrofuse.set_rng_state(7, 2)
    np.testing.assert_array_equal(fd.execute([9])[0], drawn)


def test_folds_and_scans_with_lambdas():
    with FusionDefinition() as fd:
        x = vector(fd)
        fd.add_output(fd.ops.fold(x, lambda a, b: fd.ops.maximum(a, b) * 1.0, init=0.0, dims=[0]))
        fd.add_output(fd.ops.scan([x], lambda a, b: a + b, init=[0.0], dim=0))
    assert "lambda" in repr(fd)
    values = np.array([3.0, -1.0, 5.0, 2.0], np.float32)
    largest, sums = fd.execute([values])
    assert largest == 5.0
    np.testing.assert_array_equal(sums, np.cumsum(values))


def test_a_lambda_sees_its_parameters_only():
    with FusionDefinition() as fd:
        x = vector(fd)
        with pytest.raises(DefinitionError, match=r"^test_language.py:\d+: a lambda sees its parameters and numbers only"):
            fd.ops.fold(x, lambda a, b: a + b + x, init=0.0, dims=[0])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(dtype):
    with FusionDefinition() as fd:
        z = vector(fd, DataType.ComplexFloat if dtype == np.complex64 else DataType.ComplexDouble)
        fd.add_output(z * (1 + 2j))
        fd.add_output(fd.ops.abs(z))
    values = np.array([1 + 1j, -2j, 3], dtype)
    product, size = fd.execute([values])
    assert product.dtype == dtype
    np.testing.assert_allclose(product, values * (1 + 2j), rtol=1e-6)
    np.testing.assert_allclose(size, np.abs(values), rtol=1e-6)


def test_unsigned_integers_and_floats_of_a_byte():
    with FusionDefinition() as fd:
        n, small = vector(fd, DataType.UInt64), vector(fd, DataType.Float8_e4m3fn)
        fd.add_output(fd.ops.maximum(n, 2**64 - 2))
        fd.add_output(fd.ops.cast(fd.ops.cast(small, DataType.Float) * 2.0, DataType.Float8_e4m3fn))
    numbers = np.array([1, 2**64 - 1], np.uint64)
    floats = np.array([1.5, 8.0, 0.25]).astype(ml_dtypes.float8_e4m3fn)
    largest, doubled = fd.execute([numbers, floats])
    np.testing.assert_array_equal(largest, np.array([2**64 - 2, 2**64 - 1], np.uint64))
    np.testing.assert_array_equal(doubled.astype(np.float32), [3.0, 16.0, 0.5])


def test_an_index_out_of_range_is_an_error():
    with FusionDefinition() as fd:
        x, index = vector(fd), vector(fd, DataType.Int)
        fd.add_output(fd.ops.index_select(x, index, 0))
    values = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(fd.execute([values, np.array([3, 0])])[0], [3, 0])
    with pytest.raises(RuntimeError, match="index 4 is out of range"):
        fd.execute([values, np.array([0, 4])])


def test_products_of_matrices():
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 4), np.float32)
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float) for _ in "ab")
        fd.add_output(x @ y)
    np.testing.assert_allclose(fd.execute([a, b])[0], a @ b)
