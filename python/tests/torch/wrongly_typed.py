"""Mistakes that the types find, one a line; each says so where mypy and pyright should report."""

from ferrofuse import DataType, FusionDefinition

fd = FusionDefinition()
x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
fd.ops.summ(x)  # wrong
fd.ops.sum(x, dimz=[0])  # wrong
fd.ops.sum("x")  # wrong
fd.ops.cat(3)  # wrong
fd.add_output(2.0)  # wrong
DataType.Flot  # wrong
