# One ramp numbers rows and columns; ramps are folded and scanned like any other tensor.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    positions = fd.ops.iota(fd.ops.size(x, 1))
    rows = fd.ops.broadcast(positions, is_broadcast_dim=[False, True])
    columns = fd.ops.broadcast(positions, is_broadcast_dim=[True, False])
    fd.add_output(fd.ops.where(fd.ops.le(columns, rows), x, 0.0))
    fd.add_output(fd.ops.sum(positions, dims=[0]))
    fd.add_output(fd.ops.cumsum(positions, dim=0))
    fd.add_output(fd.ops.argmax(fd.ops.sum(x, dims=[0]), dim=0))

inputs = [torch.arange(1, 10, 1, dtype=torch.float32).reshape(3, 3)]

# ---- expect
# f32[3, 3] = 1.0, 0.0, 0.0, 4.0, 5.0, 0.0, 7.0, 8.0, 9.0
# i64[] = 3
# i64[3] = 0, 1, 3
# i64[] = 2
