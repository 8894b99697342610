"""Arrays of integers of 8, 16 and 32 bits, from NumPy and back."""

import numpy as np
import pytest
from ferrofuse import DataType, FusionDefinition

KINDS = {
    np.uint8: DataType.Byte,
    np.int8: DataType.Char,
    np.int16: DataType.Short,
    np.uint16: DataType.UInt16,
    np.uint32: DataType.UInt32,
}


def of(dtype, body):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=[None, None], dtype=dtype)
        fd.add_output(body(fd, x))
    return fd


@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic_is_numpys(kind):
    info = np.iinfo(kind)
    x = np.random.default_rng(3).integers(info.min, info.max, (9, 41), kind, endpoint=True)
    bodies = [
        (lambda fd, x: fd.ops.add(x, x), x + x),
        (lambda fd, x: fd.ops.mul(x, 3), x * kind(3)),
        (lambda fd, x: fd.ops.bitwise_not(x), ~x),
        (lambda fd, x: fd.ops.sum(x, dims=[1]), x.sum(1, dtype=np.int64)),
        (lambda fd, x: fd.ops.max(x, dims=[0]), x.max(0)),
        (lambda fd, x: fd.ops.cast(x, dtype=DataType.Float), x.astype(np.float32)),
    ]
    for body, expected in bodies:
        [got] = of(KINDS[kind], body).execute([x])
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    strided = x[::2, ::-3]
    [got] = of(KINDS[kind], lambda fd, x: fd.ops.sub(x, 1)).execute([strided])
    np.testing.assert_array_equal(got, strided - kind(1))


@pytest.mark.parametrize("kind", KINDS)
def test_scalars_of_the_call_are_in_range(kind):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=KINDS[kind])
        fd.add_output(fd.ops.add(x, fd.define_scalar(None, KINDS[kind])))
    info = np.iinfo(kind)
    [got] = fd.execute([np.ones(3, kind), info.max])
    assert got.dtype == kind and (got == info.min).all()
    with pytest.raises(ValueError, match="is beyond"):
        fd.execute([np.ones(3, kind), int(info.max) + 1])
