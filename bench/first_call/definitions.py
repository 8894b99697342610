"""Long definitions: chains of ops, folds in turn, chains of index maps, many inputs and outputs, random mixtures.

Takes how many ops; gives the text of a definition file with its inputs. `every_op.py` has a chain of each op.
"""

import random

HEAD = "def chain(fd: FusionDefinition) -> None:\n"
SIDE = 32


class Text:
    """A definition file in the making: statements, and the data of its inputs."""

    def __init__(self):
        self.lines, self.inputs = [], []

    def tensor(self, shape=(SIDE, SIDE), dtype="Float", data="torch.randn({shape}, dtype=torch.float32)"):
        """A declared input of symbolic sizes."""
        name = f"x{len(self.inputs)}"
        sizes = ", ".join("-1" for _ in shape)
        self.lines.append(f"{name} = fd.define_tensor(shape=[{sizes}], contiguity=True, dtype=DataType.{dtype})")
        self.inputs.append(data.format(shape=tuple(shape)))
        return name

    def integers(self, shape, below):
        """An input of indices."""
        return self.tensor(shape, "Int", f"torch.randint(0, {below}, {{shape}}, dtype=torch.int64)")

    def scalar(self):
        """A declared scalar."""
        name = f"x{len(self.inputs)}"
        self.lines.append(f"{name} = fd.define_scalar(None, dtype=DataType.Double)")
        self.inputs.append("0.5")
        return name

    def op(self, call):
        """The result of a call of an op."""
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = fd.ops.{call}")
        return name

    def output(self, name):
        self.lines.append(f"fd.add_output({name})")

    def __str__(self):
        body = "".join(f"    {line}\n" for line in self.lines)
        return HEAD + body + "\n\ninputs = [\n" + "".join(f"    {line},\n" for line in self.inputs) + "]\n"


def chain(*steps):
    """A definition that applies calls in turn, each to the result of the one before."""

    def make(text, ops):
        y = text.tensor()
        for place in range(ops):
            y = text.op(steps[place % len(steps)].format(y=y))
        text.output(y)

    return make


def folds_of(*dims):
    """Folds along these dimensions in turn, each result beside what was folded: two ops a step."""

    def make(text, ops):
        y = text.tensor()
        for place in range(ops // 2):
            fold = text.op(f"mean({y}, dims=[{dims[place % len(dims)]}], keepdim=True)")
            y = text.op(f"sub({y}, {fold})")
        text.output(y)

    return make


def pads(text, ops):
    """Each result beside itself, shifted both ways: three ops a step, twice as many readers of the input."""
    y = text.tensor((SIDE * SIDE,))
    for _ in range(ops // 3):
        left = text.op(f"pad({y}, [1, -1])")
        right = text.op(f"pad({y}, [-1, 1])")
        y = text.op(f"add({left}, {right})")
    text.output(y)


def rolls(text, ops):
    """Each result put together from two slices of the one before: three ops a step."""
    y = text.tensor((SIDE * SIDE,))
    for _ in range(ops // 3):
        left = text.op(f"slice({y}, start_indices=[1], end_indices=[{SIDE * SIDE}])")
        right = text.op(f"slice({y}, start_indices=[0], end_indices=[1])")
        y = text.op(f"cat([{left}, {right}], dim=0)")
    text.output(y)


def tails(text, ops):
    """Slices of slices, each shorter by an unknown size: three ops a step."""
    y, width = text.tensor((4 * ops,)), text.tensor((1,))
    size, width = text.op(f"size({y}, dim=0)"), text.op(f"size({width}, dim=0)")
    for _ in range(ops // 3):
        size = text.op(f"sub({size}, {width})")
        y = text.op(f"slice({y}, start_indices=[0], end_indices=[{size}])")
        y = text.op(f"sin({y})")
    text.output(y)


def slices(text, ops):
    """Neighbours added over ever fewer elements: three ops a step."""
    length = 4 * ops
    y = text.tensor((length,))
    for _ in range(ops // 3):
        left = text.op(f"slice({y}, start_indices=[0], end_indices=[{length - 1}])")
        right = text.op(f"slice({y}, start_indices=[1], end_indices=[{length}])")
        y = text.op(f"add({left}, {right})")
        length -= 1
    text.output(y)


def reshapes(text, ops):
    """Shapes whose sizes do not line up, in turn, with an op between: two ops a step."""
    y = text.op(f"reshape({text.tensor((6 * 8,))}, new_shape=[6, 8])")
    for place in range(ops // 2):
        y = text.op(f"reshape({y}, new_shape={[[8, 6], [6, 8]][place % 2]})")
        y = text.op(f"relu({y})")
    text.output(y)


def gathers(text, ops):
    """What one gather takes is what the next one takes from."""
    y, index = text.tensor((SIDE, SIDE)), text.integers((SIDE, SIDE), SIDE)
    for place in range(ops):
        y = text.op(f"take_along_axis({y}, {index}, dim={place % 2})")
    text.output(y)


def gathered_twice(text, ops):
    """Two gathers of each result, added: three ops a step, twice as many readers of the input."""
    y, first, second = text.tensor((SIDE,)), text.integers((SIDE,), SIDE), text.integers((SIDE,), SIDE)
    for _ in range(ops // 3):
        left, right = text.op(f"index_select({y}, {first}, dim=0)"), text.op(f"index_select({y}, {second}, dim=0)")
        y = text.op(f"add({left}, {right})")
    text.output(y)


def products(text, ops):
    y, weight = text.tensor(), text.tensor()
    for _ in range(ops):
        y = text.op(f"matmul({y}, {weight})")
    text.output(y)


def inputs(text, ops):
    """The sum of as many inputs."""
    tensors = [text.tensor((SIDE,)) for _ in range(ops)]
    y = tensors[0]
    for x in tensors[1:]:
        y = text.op(f"add({y}, {x})")
    text.output(y)


def pairs(text, ops):
    """As many inputs in pairs, each pair a result of its own."""
    tensors = [text.tensor((SIDE,)) for _ in range(ops)]
    for left, right in zip(tensors[::2], tensors[1::2]):
        text.output(text.op(f"add({left}, {right})"))


def scalars(text, ops):
    y = text.tensor()
    for _ in range(ops):
        y = text.op(f"mul({y}, {text.scalar()})")
    text.output(y)


def outputs(text, ops):
    """As many outputs of one input."""
    x = text.tensor((SIDE,))
    for place in range(ops):
        text.output(text.op(f"mul({x}, {place + 1}.0)"))


def masks(text, ops):
    """A dropout of each result, whose mask is an output."""
    y = text.tensor()
    for _ in range(ops):
        dropout = text.op(f"dropout({y}, 0.1)")
        y = f"{dropout}[0]"
        text.output(f"{dropout}[1]")
    text.output(y)


def one_cat(text, ops):
    """One cat of as many inputs, all of unknown sizes."""
    tensors = ", ".join([text.tensor((4,)) for _ in range(ops)])
    text.output(text.op(f"cat([{tensors}], dim=0)"))


def readers(text, ops):
    """The square of a sum of all results before: values with many readers."""
    y = text.tensor()
    total = y
    for _ in range(ops // 2):
        y = text.op(f"mul({total}, {y})")
        total = text.op(f"add({total}, {y})")
    text.output(total)


UNARY = ["sin", "exp", "relu", "neg", "rsqrt", "tanh", "gelu", "silu", "erf", "log", "abs", "sigmoid"]


def mixture(seed):
    """Ops of all kinds drawn at random, on any of the latest results; all have one shape."""

    def make(text, ops):
        draw = random.Random(seed)
        values = [text.tensor(), text.tensor()]
        index = text.integers((SIDE, SIDE), SIDE)
        start = len(text.lines)
        while len(text.lines) - start < ops:
            y, z = draw.choice(values[-6:]), draw.choice(values[-6:])
            kind = draw.randrange(12)
            if kind < 4:
                y = text.op(f"{draw.choice(UNARY)}({y})")
            elif kind < 7:
                y = text.op(f"{draw.choice(['add', 'mul', 'sub', 'maximum'])}({y}, {z})")
            elif kind == 7:
                mean = text.op(f"{draw.choice(['mean', 'max', 'sum'])}({y}, dims=[{draw.randrange(2)}], keepdim=True)")
                y = text.op(f"sub({z}, {mean})")
            elif kind == 8:
                y = text.op(f"permute({y}, dims=[1, 0])")
            elif kind == 9:
                width = draw.choice([1, -1])
                y = text.op(f"pad({y}, [{width}, {-width}])")
            elif kind == 10:
                y = text.op(f"take_along_axis({y}, {index}, dim={draw.randrange(2)})")
            else:
                y = text.op(f"{draw.choice(['softmax', 'cumsum'])}({y}, dim={draw.randrange(2)})")
            values.append(y)
        for y in values[-6:]:
            text.output(y)

    return make


DEFINITIONS = {
    "arithmetic": chain("add({y}, 1.0)", "mul({y}, 0.5)", "sub({y}, 0.2)", "maximum({y}, 0.1)"),
    "casts": chain("cast({y}, dtype=DataType.Half)", "cast({y}, dtype=DataType.Float)", "add({y}, 0.1)"),
    "permutes": chain("permute({y}, dims=[1, 0])", "relu({y})", "add({y}, 1.0)"),
    "flips": chain("permute({y}, dims=[1, 0])", "softmax({y}, dim=1)"),
    "cumsums": chain("cumsum({y}, dim=1)", "mul({y}, 0.1)"),
    "triangles": chain("triu({y})", "add({y}, 1.0)"),
    "masks": masks,
    "row_means": folds_of(1),
    "rows_and_columns": folds_of(1, 0),
    "readers": readers,
    "pads": pads,
    "rolls": rolls,
    "slices": slices,
    "tails": tails,
    "reshapes": reshapes,
    "gathers": gathers,
    "gathered_twice": gathered_twice,
    "products": products,
    "mixture0": mixture(0),
    "mixture1": mixture(1),
    "mixture2": mixture(2),
    "inputs": inputs,
    "pairs": pairs,
    "scalars": scalars,
    "outputs": outputs,
    "one_cat": one_cat,
}


def text_of(make, ops):
    """The file of a definition."""
    text = Text()
    make(text, ops)
    return str(text)
