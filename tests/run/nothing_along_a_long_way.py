# An output without elements takes no iterations of the loops over its other axes.
def nothing_along_a_long_way(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    repeated = fd.ops.broadcast_in_dim(x, shape=[rows, 5, columns, 2000001], broadcast_dims=[0, 2])
    fd.add_output(fd.ops.stride_order(repeated, stride_order=[0, 1, 2, 3]))

inputs = [torch.zeros(0, 2000001)]

# ---- expect
# f32[0, 5, 2000001, 2000001] =
