# With five rows the slice has four elements, and never the eight that the reshape asked for.
def views(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    flat = fd.ops.reshape(fd.ops.slice(x, start_indices=[4, 0], end_indices=[6, 4]), new_shape=[8])
    wide = fd.ops.broadcast_in_dim(fd.ops.sum(x, dims=[1]), shape=[5, 3], broadcast_dims=[0])
    fd.add_output(flat)
    fd.add_output(wide)

# ---- expect
# 5:12: `broadcast_in_dim` needs size i0 or -1 on axis 0, but has size 5
#     wide = fd.ops.broadcast_in_dim(fd.ops.sum(x, dims=[1]), shape=[5, 3], broadcast_dims=[0])
#            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
