"""The cases, one file per family of ops. A table's `cases(ops)` takes what `ferrofuse ops --json` says, by name."""

import itertools

from . import binary, casts, complex, composites, gather, matmul, movement, normalization, random, reductions, scans, scatter, sort, ternary, unary

FAMILIES = (unary, binary, ternary, casts, reductions, normalization, scans, movement, gather, scatter, sort, random, matmul, complex)


def cases(ops):
    return itertools.chain.from_iterable(family.cases(ops) for family in FAMILIES)
