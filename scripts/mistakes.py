"""The mistakes of docs/errors.md: thirty and more in Python, twenty on the command line, each as a newcomer makes it.

`scripts/generate_errors.py` makes them and writes what is said; a test does so as well.
"""

# Where statements stand: `x` is a matrix of f32, `v` a vector, `n` a vector of i64; `double` is finished and takes a matrix.
PREAMBLE = """
import numpy as np
import ferrofuse
from ferrofuse import DataType, FusionDefinition

A = np.ones((2, 3), np.float32)

with FusionDefinition() as double:
    other = double.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    double.add_output(other * 2.0)

fd = FusionDefinition()
fd.__enter__()
x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
v = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
n = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
"""

PYTHON = [
    "fd.ops.sum(x, dims=[2])",
    "fd.ops.sum(x, axis=1)",
    "fd.ops.summ(x)",
    "fd.ops.mull(x, x)",
    "fd.ops.sum()",
    "fd.ops.cast(x)",
    "fd.ops.reshape(x, [4, -1, -1])",
    "fd.ops.permute(x, [0, 0])",
    "fd.ops.cat([x, v])",
    "fd.ops.matmul(x, n)",
    "fd.ops.index_select(x, v, 0)",
    "x + np.ones(3)",
    "np.ones(3) + x",
    "x + 'one'",
    "x[x > 0]",
    "x[0, 0, 0]",
    "x[np.array([0, 1])]",
    "x[0] = 1.0",
    "len(x)",
    "float(x)",
    "list(x)",
    "x if x.sum() > 0 else v",
    "np.median(x)",
    "np.flip(x, 2)",
    "x.sum(where=x > 0)",
    "fd.add_output(2.0)",
    "fd.add_output(v, x)",
    "fd.define_tensor(shape=[-1], contiguity=[True, True])",
    "fd.ops.exp(other)",
    "double.ops.exp(other)",
    "double.execute([])",
    "double.execute([A[0]])",
    "double.execute([A.astype(np.float64)])",
    "double.execute([A], out=[A])",
    "double.execute([A], out=[np.zeros(3)])",
    "double.execute([A], threads=0)",
    "double.execute([A], device='mps')",
    "double.execute([A], like='tensorflow')",
    "ferrofuse.fuse(lambda y: y if y.sum() > 0 else -y)(A)",
    "ferrofuse.fuse(lambda y: None)(A)",
]

FILE = """def model(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = {}
    fd.add_output(y)

inputs = [torch.randn((4, 5))]
"""

# Command, and the line of `model.py` that it reads.
COMMAND_LINE = [
    ("run model.py", "fd.ops.mull(x, x)"),
    ("run model.py", "fd.ops.sum(x, axis=1)"),
    ("run model.py", "fd.ops.sum(x, dims=[2])"),
    ("run model.py", "fd.ops.add(x)"),
    ("run model.py", "fd.ops.exp(z)"),
    ("run model.py", "fd.ops.cast(x, dtype=DataType.Floot)"),
    ("run model.py", "fd.ops.matmul(x, x)"),
    ("explain model.py", "fd.ops.matmul(x, x)"),
    ("run model.py", "fd.ops.reshape(x, [7, 3])"),
    ("run model.py", "fd.ops.exp(x"),
    ("run missing.py", "fd.ops.exp(x)"),
    ("run model.py --size i7=3", "fd.ops.exp(x)"),
    ("run model.py --size i0=few", "fd.ops.exp(x)"),
    ("run model.py --input y=missing.npy", "fd.ops.exp(x)"),
    ("run model.py --threads 0", "fd.ops.exp(x)"),
    ("run model.py --schedule seg9=missing.txt", "fd.ops.exp(x)"),
    ("emit model.py --stage lvm", "fd.ops.exp(x)"),
    ("emit model.py --stage cuda --target sm_91", "fd.ops.exp(x)"),
    ("explain model.py --compare greed", "fd.ops.exp(x)"),
    ("rum model.py", "fd.ops.exp(x)"),
]
