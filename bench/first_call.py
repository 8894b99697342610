"""What the first call of a long definition costs: time and memory of a process that reads, plans, compiles and runs it.

    python bench/first_call.py                      # every definition, of 1,000 ops each
    python bench/first_call.py --ops 300 sin pads   # some of them, of another length
    python bench/first_call.py --write FOLDER       # their files alone

Each runs in a process of its own, `ferrofuse run` without a cache on data of a few kilobytes, so that what is measured is
the compiler. A process that takes more than `--seconds` is ended, one that asks for more than `--gibibytes` gets none.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

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


def cat(text, ops):
    """One cat of as many inputs."""
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
BINARY = ["add({y}, 1.0)", "mul({y}, 0.5)", "maximum({y}, 0.1)", "sub({y}, 0.2)", "div({y}, 1.5)", "where(gt({y}, 0.0), {y}, 1.0)"]


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
    **{name: chain(f"{name}({{y}})") for name in UNARY},
    "pow": chain("pow({y}, 1.01)"),
    "arithmetic": chain("add({y}, 1.0)", "mul({y}, 0.5)", "sub({y}, 0.2)", "maximum({y}, 0.1)"),
    "casts": chain("cast({y}, dtype=DataType.Half)", "cast({y}, dtype=DataType.Float)", "add({y}, 0.1)"),
    "permutes": chain("permute({y}, dims=[1, 0])", "relu({y})", "add({y}, 1.0)"),
    "flips": chain("permute({y}, dims=[1, 0])", "softmax({y}, dim=1)"),
    "softmax": chain("softmax({y}, dim=1)"),
    "layer_norm": chain("layer_norm({y}, normalized_shape=[32])"),
    "cumsum": chain("cumsum({y}, dim=1)", "mul({y}, 0.1)"),
    "triu": chain("triu({y})", "add({y}, 1.0)"),
    "random": chain("dropout({y}, 0.1)[0]"),
    "row_means": folds_of(1),
    "rows_and_columns": folds_of(1, 0),
    "readers": readers,
    "pads": pads,
    "rolls": rolls,
    "slices": slices,
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
    "cat": cat,
}


def text_of(name, ops):
    """The file of a definition."""
    text = Text()
    DEFINITIONS[name](text, ops)
    return str(text)


def measure(command, seconds, limit):
    """Seconds, peak MiB and output of a process, and what became of it."""

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (2 * seconds, 2 * seconds))

    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        environment = dict(os.environ, FERROFUSE_CACHE="none")
        process = subprocess.Popen(command, stdout=out, stderr=err, env=environment, preexec_fn=limited)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        taken = time.monotonic() - begin
        out.seek(0), err.seek(0)
        return taken, used.ru_maxrss / 1024, process.returncode, out.read().decode(), err.read().decode()


def row(name, arguments, folder):
    path = pathlib.Path(folder) / f"{name}.py"
    path.write_text(text_of(name, arguments.ops))
    command = [arguments.binary, "run", str(path), "--json", *(["--check"] if arguments.check else [])]
    taken, memory, code, out, err = measure(command, arguments.seconds, arguments.gibibytes << 30)
    line = f"{name:18}{arguments.ops:7}{taken:9.2f}{memory:9.0f}"
    if code != 0:
        words = next((line.strip() for line in err.splitlines() if line.strip()), "")
        return f"{line}   ended with {code}: {words[:80]}"
    report = json.loads(out)
    kernels = len(report["kernels"])
    evaluated = sum(bool(segment.get("evaluator_reason")) for segment in report["segments"])
    return f"{line}{len(report['segments']):10}{kernels:9}{evaluated:11}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(DEFINITIONS)}")
    parser.add_argument("--ops", type=int, default=1000, help="ops of a definition, or inputs, or outputs")
    parser.add_argument("--binary", default="target/release/ferrofuse")
    parser.add_argument("--seconds", type=int, default=60, help="a process gets twice as much time of processors")
    parser.add_argument("--gibibytes", type=int, default=8, help="a process may ask for")
    parser.add_argument("--check", action="store_true", help="compare with the evaluator too, which takes its time")
    parser.add_argument("--write", metavar="FOLDER", help="write the files, run nothing")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(DEFINITIONS)
    if unknown:
        sys.exit(f"no definition is called {', '.join(sorted(unknown))}")
    names = arguments.names or list(DEFINITIONS)
    if arguments.write:
        for name in names:
            (pathlib.Path(arguments.write) / f"{name}.py").write_text(text_of(name, arguments.ops))
        return
    print(f"{'definition':18}{'ops':>7}{'seconds':>9}{'MiB':>9}{'segments':>10}{'kernels':>9}{'evaluated':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            print(row(name, arguments, folder), flush=True)


if __name__ == "__main__":
    main()
