#!/usr/bin/env python3
"""Writes docs/torch-ops.md: what the backend of torch.compile fuses, by its table of ops, and what it leaves to eager.

    scripts/generate_torch_ops.py          writes it
    scripts/generate_torch_ops.py --check  says whether it is as it would be written

Needs the package and torch (`.venv-torch`).
"""

import sys
from pathlib import Path

import torch

from ferrofuse.torch.rows import TABLE, Kind, library

PAGE = Path(__file__).resolve().parents[1] / "docs" / "torch-ops.md"
KINDS = {
    Kind.COMPUTE: "Computed in regions",
    Kind.COPY: "Copies, computed in regions",
    Kind.DRAW: "Random numbers, drawn in regions from torch's seed (by eager with `fallback_random`)",
    Kind.CREATE: "Constants, made wherever a region uses them",
    Kind.VIEW: "Views, which each region has of its own",
}
HEAD = """# What torch.compile fuses

Made by `scripts/generate_torch_ops.py` of the backend's table (`python/ferrofuse/torch/rows/`).
Ops are named as torch names them, after its decompositions: softmax, norms, losses and most activations are no rows
of the table, because they arrive as the ops below. Dtypes: bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64; tensors
of others, and ops that are not listed, are left to eager. `ferrofuse.torch.explain(model, *inputs)` tells what of a
model is.
"""


def rows_of(kind):
    """A row of the table of a kind: op, overloads, what is left to eager all the same."""
    overloads = {}
    for name, row in TABLE.items():
        if row.kind == kind and exists(name):
            op, overload = name.rsplit(".", 1)
            overloads.setdefault((op, row.limit), []).append(overload)
    for (op, limit), names in sorted(overloads.items()):
        yield f"| `{op}` | {', '.join(names)} | {limit} |"


def exists(name):
    """Has this torch an op of this name?"""
    namespace, op, overload = name.split(".")
    packet = getattr(getattr(torch.ops, namespace), op, None)
    return packet is not None and overload in packet.overloads()


def page():
    lines = [HEAD]
    for kind, title in KINDS.items():
        lines += [f"## {title}", "", "| op | overloads | left to eager |", "|---|---|---|", *rows_of(kind), ""]
    lines += ["## Left to torch's libraries", "", "| op | what it is |", "|---|---|"]
    lines += [f"| `{prefix}*` | {what} |" for prefix, what in library.KINDS.items()]
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/torch-ops.md is out of date: run scripts/generate_torch_ops.py")
        return
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
