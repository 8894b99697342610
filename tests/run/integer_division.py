# Division by zero is a value, and never a trap.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.div(x, y))
    fd.add_output(fd.ops.fmod(x, y))

inputs = [torch.arange(-4, 5, 1), torch.arange(-2, 7, 1)]

# ---- expect
# i64[9] = 2, 3, 0, -1, 0, 0, 0, 0, 0
# i64[9] = 0, 0, -2, 0, 0, 1, 2, 3, 4
