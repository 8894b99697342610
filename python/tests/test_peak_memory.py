"""`fd.peak_memory`: a limit on what segments make."""

import numpy as np
import pytest
from ferrofuse import DataType, FusionDefinition


def branches():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[64, 64], contiguity=True, dtype=DataType.Float)
        for _ in range(3):
            w = fd.define_tensor(shape=[64, 64], contiguity=True, dtype=DataType.Float)
            fd.add_output(fd.ops.sum(fd.ops.matmul(fd.ops.relu(x), w), dims=[1]))
    return fd


def test_a_limit_that_is_kept_changes_no_result():
    fd, inputs = branches(), [np.ones((64, 64), dtype=np.float32)] * 4
    free = fd.execute(inputs)
    fd.peak_memory = fd.explain().to_dict()["peak_bytes"]
    for output, limited in zip(free, fd.execute(inputs)):
        np.testing.assert_array_equal(output, limited)


def test_a_limit_that_cannot_be_kept_is_rejected_with_the_fewest_bytes():
    fd = branches()
    fd.peak_memory = 100
    with pytest.raises(Exception, match="at most 100 bytes may be in memory at a time.* the fewest found are [0-9]+"):
        fd.explain()
    fd.peak_memory = None
    assert fd.explain().to_dict()["peak_bytes"] > 100


@pytest.mark.parametrize("limit, error", [("1 MB", TypeError), (True, TypeError), (1.5, TypeError), (-1, ValueError)])
def test_what_is_no_number_of_bytes_is_rejected(limit, error):
    with pytest.raises(error, match="peak_memory"):
        branches().peak_memory = limit
