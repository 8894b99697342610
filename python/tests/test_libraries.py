"""Which library outputs are of: what comes in says it, or `like`."""

import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition


def counted():
    with FusionDefinition() as fd:
        n = fd.define_scalar(None, dtype=DataType.Int)
        fd.add_output(fd.ops.iota(n, dtype=DataType.Int))
    return fd


def test_calls_without_arrays_give_numpys_unless_told():
    fd = counted()
    assert type(fd.execute([3])[0]) is np.ndarray
    assert type(fd.execute([3], like="numpy")[0]) is np.ndarray
    assert type(fd.validate([3], like="numpy")[0]) is np.ndarray
    assert type(fd.fec.execute([3], like="numpy")[0]) is np.ndarray


@pytest.mark.parametrize("like", ["tensorflow", "", "Torch"])
def test_like_names_a_library(like):
    for call in (counted().execute, counted().validate):
        with pytest.raises(ValueError) as error:
            call([3], like=like)
        assert str(error.value) == f"like must be 'numpy', 'torch', 'jax' or 'cupy', but is '{like}'"
