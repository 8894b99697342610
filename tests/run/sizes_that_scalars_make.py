# A size computed of scalars, in floats or of signs, is the whole number that comes out, but for rounding.
def sizes_that_scalars_make(fd):
    S0 = fd.define_scalar(None, dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int)
    S2 = fd.ops.mul(12, fd.ops.reciprocal(S0))
    T3 = fd.ops.reshape(T1, new_shape=[S0, S2])
    fd.add_output(fd.ops.sum(T3, dims=[1]))
    S4 = fd.ops.add(fd.ops.cast(fd.ops.ne(S0, 3), dtype=DataType.Int), 2)
    T5 = fd.ops.iota(fd.ops.mul(fd.ops.reciprocal(fd.ops.size(T1, 1)), 3.0), S0, S0)
    T6 = fd.ops.full([S4], S0, DataType.Int)
    fd.add_output(fd.ops.cat([T5, T6], dim=0))

inputs = [3, torch.arange(12).reshape(4, 3)]

# ---- expect
# i64[3] = 6, 22, 38
# i64[3] = 3, 3, 3
