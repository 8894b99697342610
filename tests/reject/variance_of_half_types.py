def f(fd):
    T0 = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.var(fd.ops.cast(T0, DataType.Half), [0]))

# ---- expect
# 3:30: `var`: argument `arg` must be a tensor of f32 or f64, but is one of f16
#     fd.add_output(fd.ops.var(fd.ops.cast(T0, DataType.Half), [0]))
#                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a tensor of f32 or f64
# help: cast it to DataType.Float first
