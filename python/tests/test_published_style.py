"""Definitions that import nvFuser run after `compat.install()`, or a change of the import alone, and `validate` agrees."""

import sys

import numpy as np
import pytest

from ferrofuse import FusionDefinition, compat

compat.install()
try:
    from published_style import DEFINITIONS
finally:
    compat.uninstall()


def test_there_are_thirty():
    assert len(DEFINITIONS) >= 30 and "nvfuser_direct" not in sys.modules


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition(name):
    make, inputs = DEFINITIONS[name]
    with FusionDefinition() as fd:
        reference = make(fd)
    references = None if reference is None else [np.asarray(one) for one in reference(*inputs)]
    outputs = fd.execute(list(inputs))
    validated = fd.validate(list(inputs), references)
    for output, again in zip(outputs, validated):
        np.testing.assert_array_equal(output, again)
    with FusionDefinition() as again:
        exec(repr(fd), names := {**vars(sys.modules["ferrofuse"])})
        names["nvfuser_fusion"](again)
    assert again.fusion == fd.fusion
