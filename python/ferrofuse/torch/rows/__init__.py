"""The table from ops of aten to ops of a definition, one row per op."""

from typing import Dict, Optional

from . import creation, elementwise, folds, library, moves, pooling, views
from .elementwise import compares, converts_numbers, promotes, rounds_numbers
from .row import Call, Kind, Row, Unsupported, in_bytes, wrapped

TABLE: Dict[str, Row] = {**elementwise.ROWS, **folds.ROWS, **views.ROWS, **moves.ROWS, **creation.ROWS, **pooling.ROWS}


def row(op: str) -> Optional[Row]:
    """The row of an op, by a name such as "aten.add.Tensor"."""
    return TABLE.get(op)


__all__ = [
    "Call",
    "Kind",
    "Row",
    "TABLE",
    "Unsupported",
    "compares",
    "converts_numbers",
    "in_bytes",
    "library",
    "promotes",
    "rounds_numbers",
    "wrapped",
]
