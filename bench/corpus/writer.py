"""Writes a definition file call by call: what a graph of the corpus is given, in the place of a `FusionDefinition`.

`Writer.ops.NAME(...)` appends the line `x7 = fd.ops.NAME(...)` and returns its result, on which Python's operators work.
Inputs are declared with symbolic sizes and listed with the sizes of the workload. Nothing is computed here.
"""

import re

FLOAT, BF16, INT, BOOL, FP8 = "DataType.Float", "DataType.BFloat16", "DataType.Int", "DataType.Bool", "DataType.Float8_e4m3fn"
TORCH = {FLOAT: "torch.float32", BF16: "torch.bfloat16"}
WIDTH = 116


class Value:
    """A result of a line."""

    def __init__(self, writer, name):
        self.writer, self.name = writer, name

    def __add__(self, other):
        return self.writer.ops.add(self, other)

    def __sub__(self, other):
        return self.writer.ops.sub(self, other)

    def __mul__(self, other):
        return self.writer.ops.mul(self, other)

    def __truediv__(self, other):
        return self.writer.ops.div(self, other)

    def __neg__(self):
        return self.writer.ops.neg(self)


class Ops:
    """`fd.ops`."""

    def __init__(self, writer):
        self.writer = writer

    def __getattr__(self, op):
        return lambda *args, **named: self.writer.line(f"fd.ops.{op}", args, named)


class Writer:
    """A definition in the making."""

    def __init__(self, name, doc):
        self.name, self.doc = name, doc
        self.lines, self.inputs, self.results = [], [], 0
        self.ops = Ops(self)

    def line(self, function, args=(), named=None):
        """Appends a call and returns its result."""
        written = [text(arg) for arg in args] + [f"{key}={text(value)}" for key, value in (named or {}).items()]
        result = Value(self, f"x{self.results}")
        self.results += 1
        self.lines.append(f"{result.name} = {function}({', '.join(written)})")
        return result

    def tensor(self, sizes, dtype=BF16, static=(), high=None):
        """An input of these sizes; `static` axes are declared with theirs. Integers are drawn below `high`."""
        shape = [size if size == 1 or axis in static else -1 for axis, size in enumerate(sizes)]
        size = f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
        drawn = f"torch.randint(0, {high}, {size})" if dtype == INT else f"torch.randn({size}, dtype={TORCH[dtype]})"
        self.inputs.append(drawn)
        return self.line("fd.define_tensor", (), {"shape": shape, "contiguity": True, "dtype": Raw(dtype)})

    def output(self, value, alias=None):
        """Gives a value back, in the place of an input where one is named."""
        self.lines.append(f"fd.add_output({value.name}{', ' + alias.name if alias else ''})")

    def cast(self, value, dtype):
        return self.ops.cast(value, dtype=Raw(dtype))

    def f32(self, value):
        return self.cast(value, FLOAT)

    def bf16(self, value):
        return self.cast(value, BF16)

    def along(self, value, rank, *axes):
        """A value whose axes are those of a tensor of `rank`; it repeats along all others."""
        return self.ops.broadcast(value, is_broadcast_dim=[axis not in axes for axis in range(rank)])

    def text(self):
        """The definition file."""
        body = "".join(f"    {line}\n" for line in self.lines)
        inputs = "".join(f"    {drawn},\n" for drawn in self.inputs)
        return f"# {self.doc}\ndef {self.name}(fd: FusionDefinition) -> None:\n{body}\n\ninputs = [\n{inputs}]\n"


class Raw(str):
    """Text that stands in a call as it is."""


def text(value):
    """An argument as the language writes it."""
    if isinstance(value, Value):
        return value.name
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, float) and re.fullmatch(r"-?(inf|nan)", str(value)):
        return f'float("{value}")'
    return repr(value)
