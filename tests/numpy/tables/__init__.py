"""The cases, one file per group of ops. A table's `cases(ops)` takes what `ferrofuse ops --json` says, by name."""

import itertools

from . import binary, casts, complex, composites, gather, matmul, movement, normalization, random, reductions, scans, scatter, sort, ternary, unary

SCALAR = (unary, binary, ternary, casts, complex)
FORMS = (reductions, normalization, composites, scans, movement, gather, scatter, sort, random, matmul)


def cases(ops):
    return itertools.chain.from_iterable(family.cases(ops) for family in (*SCALAR, *FORMS))
