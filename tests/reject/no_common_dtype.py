# As in PyTorch, no integer type holds both.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.UInt64)
    y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.add(x, y))

# ---- expect
# 5:19: `add` needs operands with a common dtype, but has u64 and i64
#     fd.add_output(fd.ops.add(x, y))
#                   ^^^^^^^^^^^^^^^^ here
