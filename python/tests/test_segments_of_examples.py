"""Every example as segments: through the definition and run by hand, equal bits."""

import re

import numpy as np
import oracle
import pytest
from test_round_trip import KINDS, ROOT, defined

import ferrofuse


def example_inputs(kinds, shape, seed=1):
    random = np.random.default_rng(seed)
    arrays = [oracle.given(random, kind, sizes, shape[0][-1], 0.2) for kind, sizes in zip(kinds, shape)]
    return [array.astype(KINDS[kind]) for array, kind in zip(arrays, kinds)]


def names_of_inputs(fd):
    """The names that segments have for the inputs of a definition."""
    tensors = [fd._builder.name_of(val) for val in fd.fusion.inputs()]
    assert len(set(tensors)) == len(tensors)
    return tensors


def seeds_of(segments):
    """Seed and offset of draws, which segments take by their symbols, where nothing was drawn before."""
    symbols = {name for segment in segments for name in segment.inputs if re.fullmatch(r"i\d+", name)}
    return dict.fromkeys(symbols, 0)


@pytest.mark.parametrize("example", oracle.EXAMPLES, ids=lambda example: example[0].__name__)
def test_by_hand_and_through_the_definition(example):
    formula, kinds, shapes, sizes = example
    source = (ROOT / "examples" / f"{formula.__name__}.py").read_text()
    fd, _ = defined(source[source.index("def ") : source.index("\nwith FusionDefinition")])
    inputs = example_inputs(kinds, shapes(*sizes[1]))
    segments = fd.segment()
    values = dict(zip(names_of_inputs(fd), [np.copy(array) for array in inputs]))
    values.update(seeds_of(segments))
    for segment in segments:
        made = segment.definition.execute([values[name] for name in segment.inputs])
        values.update(zip(segment.outputs, made))
    ferrofuse.manual_seed(0)
    outputs = iter(fd.execute(inputs))
    for output in fd.fusion.outputs():
        name = fd._builder.name_of(output)
        assert next(outputs).tobytes() == values[name].tobytes(), name
