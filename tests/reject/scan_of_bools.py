def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.cumsum(T0 > 1.0, 0))

# ---- expect
# 3:33: `cumsum`: argument `arg` must be a tensor of numbers, but is one of bool
#     fd.add_output(fd.ops.cumsum(T0 > 1.0, 0))
#                                 ^^^^^^^^ expected a tensor of numbers
# help: cast it to DataType.Int first
