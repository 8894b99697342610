# Twenty elements in five columns are four rows, of which the slice has the last: four elements, and never eight.
def views(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    flat = fd.ops.reshape(fd.ops.slice(x, start_indices=[3, 0], end_indices=[5, 4]), new_shape=[8])
    copied = fd.ops.reshape(fd.ops.permute(x, dims=[1, 0]), new_shape=[20])
    wide = fd.ops.broadcast_in_dim(fd.ops.sum(x, dims=[0]), shape=[5, 3], broadcast_dims=[0])
    fd.add_output(flat)
    fd.add_output(copied)
    fd.add_output(wide)

# ---- expect
# 6:12: `broadcast_in_dim` needs size i1 or -1 on axis 0, but has size 5
#     wide = fd.ops.broadcast_in_dim(fd.ops.sum(x, dims=[0]), shape=[5, 3], broadcast_dims=[0])
#            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
