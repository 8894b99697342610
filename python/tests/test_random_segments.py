"""All examples and 120 random definitions under random segmentations, which overlap: by hand and through the definition, equal
bits. `same_bits.rs` of the crate `ferrofuse-cli` has the same in Rust, and from folders. The schedules that are printed for
segments fit them."""

import random
import re
import subprocess

import numpy as np
import oracle
import pytest
import torch_stand_in
from test_round_trip import PROGRAMS, RANDOM, ROOT, defined
from test_segments_of_examples import example_inputs, names_of_inputs

import ferrofuse
from ferrofuse import DefinitionError

SYMBOL = re.compile(r"\bi\d+\b")
IN_PLACE = re.compile(r"fd\.add_output\((\w+), (\w+)\)")
DRAWS = re.compile(r"fd\.ops\.(uniform|normal|rand_like|randn_like|dropout)\(")


def segmented(fd, draw):
    """Cuts it at random: some values are kept, each by a segment; what lies between is computed by all that need it."""
    inputs = names_of_inputs(fd)
    outputs = [fd._builder.name_of(val) for val in fd.fusion.outputs()]
    names = dict.fromkeys([fd._builder.name_of(val) for val in fd.fusion.vals()] + outputs)
    kept = [name for name in names if name not in inputs and (name in outputs or draw.random() < 0.4)]
    together = draw.choice([0.2, 0.5])
    while True:
        segments = []
        for name in kept:
            if segments and draw.random() < together:
                draw.choice(segments).append(name)
            else:
                segments.append([name])
        try:
            fd.segmentation = segments
            return
        except DefinitionError as error:
            said = str(error)
        name = (re.search(r"`(\w+)`", said) or [None, None])[1]
        if "wait for each other" in said and together > 0:
            together = 0
        elif said.startswith("no segment makes the output"):  # one that is written to an input
            kept.append(name)
        elif name in kept and ("does not compute it" in said or "is made by" in said or "is equal to" in said):
            kept.remove(name)
        else:
            raise AssertionError(said)


def sizes_by_symbol(fd, arrays):
    """The values of size symbols: of sizes that the definition leaves open, in order, and of scalars that are integers."""
    sizes = []
    lines = [line for line in repr(fd).splitlines() if "define_tensor" in line or "define_scalar(None" in line]
    for line, array in zip(lines, arrays):
        shape = re.search(r"shape=\[([-0-9, ]*)\]", line)
        if shape:
            declared = [int(size) for size in shape[1].split(",") if size.strip()]
            sizes += [size for size, said in zip(array.shape, declared) if said == -1]
        elif "DataType.Int" in line:
            sizes.append(int(array))
    return {f"i{number}": size for number, size in enumerate(sizes)}


def by_hand(fd, arrays):
    """Each value by its name when segments are called one after the other, as definitions of their own; None where sizes are
    computed."""
    values, symbols = dict(zip(names_of_inputs(fd), arrays)), sizes_by_symbol(fd, arrays)
    taken = [name for segment in fd.segments for name in segment.inputs if name not in values]
    unknown = {symbol for name in taken for symbol in SYMBOL.findall(name)} - set(symbols)
    if len(unknown) > (2 if DRAWS.search(repr(fd)) else 0):
        return None
    symbols.update(dict.fromkeys(unknown, 0))  # seed and offset of random numbers
    for segment in fd.segments:
        given = [values[name] if name in values else eval(name, {}, symbols) for name in segment.inputs]
        values.update(zip(segment.outputs, segment.definition.execute(given)))
    return values


def through(fd, arrays):
    """What the definition gives through its segments; None where it is rejected."""
    ferrofuse.manual_seed(0)
    try:
        return fd.execute(arrays)
    except (ferrofuse.InputError, ferrofuse.OutOfRangeError):
        return None


def same_bits(fd, arrays):
    """Whether it ran both ways."""
    copies = [np.copy(array) for array in arrays]
    outputs = through(fd, arrays)
    if outputs is None:
        return False
    made = by_hand(fd, copies)
    if made is None:
        return False
    given = dict(zip(map(fd._builder.name_of, fd.fusion.outputs()), outputs))
    inputs = dict(zip(names_of_inputs(fd), arrays))
    written = [pair for pair in IN_PLACE.findall(repr(fd)) if set(pair) <= made.keys()]  # others are called otherwise
    given.update((output, inputs[name]) for output, name in written)
    different = [name for name, array in given.items() if array.tobytes() != made[name].tobytes()]
    assert not different, f"{different} of {fd}"
    return True


def test_random_definitions():
    assert PROGRAMS.exists(), "`cargo build --package ferrofuse-testing --examples` makes what draws programs"
    printed = subprocess.run([PROGRAMS, "0", str(RANDOM)], capture_output=True, text=True, check=True).stdout
    ran = overlapping = 0
    for program in printed.split("# seed ")[1:]:
        seed, text = program.split("\n", 1)
        fd, found = defined(text, {"torch": torch_stand_in.module(int(seed))})
        segmented(fd, random.Random(int(seed)))
        ran += same_bits(fd, [np.asarray(array) for array in found["inputs"]])
        overlapping += any(segment.recomputed for segment in fd.segments)
    assert ran >= RANDOM / 2 and overlapping >= RANDOM / 8, f"{ran} ran, {overlapping} overlap"


def scheduled(fd):
    """Sets for each segment that explain shows as one kernel the schedule that it prints; how many these are."""
    count = 0
    for segment in fd.segments:
        parts = segment.definition.explain().to_dict()["segments"]
        if len(parts) == 1 and parts[0].get("schedule"):
            segment.schedule = parts[0]["schedule"]
            count += 1
    return count


def rejection(fd, arrays):
    """What a call is rejected for; its results are checked otherwise."""
    try:
        fd.validate(arrays)
    except (ferrofuse.InputError, ferrofuse.OutOfRangeError) as error:
        return str(error)
    return ""


def test_printed_schedules_fit():
    printed = subprocess.run([PROGRAMS, "0", str(RANDOM // 2)], capture_output=True, text=True, check=True).stdout
    count = ran = 0
    for program in printed.split("# seed ")[1:]:
        seed, text = program.split("\n", 1)
        fd, found = defined(text, {"torch": torch_stand_in.module(int(seed))})
        segmented(fd, random.Random(int(seed)))
        arrays = [np.asarray(array) for array in found["inputs"]]
        before = rejection(fd, arrays)
        count += scheduled(fd)
        after = rejection(fd, arrays)
        ran += not after
        assert after == before or "it fits inputs that lie as they are declared" in after, f"{seed}: {after} {fd}"
    assert count >= RANDOM / 2 and ran >= RANDOM / 4, f"{count} schedules, {ran} ran"


@pytest.mark.parametrize("example", oracle.EXAMPLES, ids=lambda example: example[0].__name__)
def test_examples(example):
    formula, kinds, shapes, sizes = example
    source = (ROOT / "examples" / f"{formula.__name__}.py").read_text()
    fd, _ = defined(source[source.index("def ") : source.index("\nwith FusionDefinition")])
    segmented(fd, random.Random(formula.__name__))
    assert same_bits(fd, example_inputs(kinds, shapes(*sizes[1])))
