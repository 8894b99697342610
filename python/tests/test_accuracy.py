"""Sums and variances in f32 are as good as NumPy's, however long the rows are and however large their mean."""

import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition

UNIT = 2.0**-24


def fused(rank, op, dtype=DataType.Float):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=True, dtype=dtype)
        results = op(fd.ops, x)
        for result in results if isinstance(results, tuple) else (results,):
            fd.add_output(result)
    return lambda x: [np.asarray(result) for result in fd.execute([x])]


def moments(axis):
    return lambda ops, x: ops.var_mean(x, dims=[axis], correction=0)


@pytest.mark.parametrize("number", [0.1, 3.3e5, -1.7e-3, 16777213.0])
def test_equal_numbers_have_no_variance(number):
    along, across = fused(2, moments(1)), fused(2, moments(0))
    for length in [*range(1, 140), 1000, 4096, 4097, 70_001, 300_000]:
        x = np.full((2, length), number, np.float32)
        for run, x in [(along, x), (across, np.ascontiguousarray(x.T))]:
            variance, mean = run(x)
            assert np.all(variance == 0) and np.all(mean == x.flat[0]), (number, length, variance, mean)


def test_a_layer_norm_of_equal_numbers_is_zero():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True)
        variance, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=True)
        fd.add_output(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(variance, 1e-5))))
    result = np.asarray(fd.execute([np.full((3, 63), 3.3e5, np.float32)])[0])
    assert np.all(result == 0)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e2, 1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("columns", [100, 4096, 100_000])
def test_variances_are_as_good_as_numpys_for_any_mean(scale, columns):
    random = np.random.default_rng(int(scale) + columns)
    x = random.normal(scale, 1, (400_000 // columns + 20, columns)).astype(np.float32)
    exact = x.astype(np.float64).var(axis=1)
    ours = fused(2, moments(1))(x)[0]
    numpy = x.var(axis=1, dtype=np.float32)
    distance = lambda result: np.sqrt(np.mean((result / exact - 1) ** 2))
    assert distance(ours) <= 2 * distance(numpy)


@pytest.mark.parametrize("number", [0.1, 1 / 3, 1.0000001, 7.7])
def test_long_sums_of_equal_numbers(number):
    x = np.full(1 << 22, number, np.float32)
    exact = x.astype(np.float64).sum()
    total = fused(1, lambda ops, x: ops.sum(x, dims=[0]))(x)[0]
    mean = fused(1, lambda ops, x: ops.mean(x, dims=[0]))(x)[0]
    # A lane rounds 15 times before it goes on in f64.
    assert abs(total / exact - 1) <= 6 * UNIT
    assert abs(mean / float(x[0]) - 1) <= 6 * UNIT


def test_long_sums_of_columns_products_and_scans():
    x = np.full((1 << 18, 3), 0.1, np.float32)
    exact = x.astype(np.float64).sum(axis=0)
    columns = fused(2, lambda ops, x: ops.sum(x, dims=[0]))(x)[0]
    assert np.all(np.abs(columns / exact - 1) <= 40 * UNIT)
    square = fused(2, lambda ops, x: ops.matmul(ops.permute(x, dims=[1, 0]), x))(x)[0]
    assert np.all(np.abs(square / (x.astype(np.float64).T @ x) - 1) <= 200 * UNIT)
    running = fused(2, lambda ops, x: ops.cumsum(x, dim=0))(x)[0]
    assert np.all(np.abs(running / np.cumsum(x.astype(np.float64), axis=0) - 1) <= 2 * UNIT)


def test_an_outlier_at_the_beginning_costs_few_digits():
    x = np.random.default_rng(1).normal(0, 1e-3, (64, 5000)).astype(np.float32)
    x[:, 0] = 1000
    exact = x.astype(np.float64).var(axis=1)
    variance = fused(2, moments(1))(x)[0]
    assert np.all(np.abs(variance / exact - 1) <= 1000 * UNIT)
