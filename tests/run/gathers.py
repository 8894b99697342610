# Elements at indices that are data: along with an index of the tensor's rank, whole rows, one row, rows of a table.
def gathers(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, 2], contiguity=True, dtype=DataType.Int)
    rows = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
    which = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.gather(fd.ops.mul(x, 2.0), index, dim=1))
    fd.add_output(fd.ops.take_along_axis(x, fd.ops.broadcast(rows, is_broadcast_dim=[True, False]), dim=1))
    fd.add_output(fd.ops.index_select(x, rows, dim=0))
    fd.add_output(fd.ops.select(x, which, dim=1))
    fd.add_output(fd.ops.select(x, -1, dim=0))
    fd.add_output(fd.ops.embedding_fwd(index, x, padding_idx=0))
    fd.add_output(fd.ops.triu(x, 1))


inputs = [
    torch.arange(12).to(torch.float32).as_strided((3, 4), (4, 1)),
    torch.arange(2).as_strided((2, 2), (1, 0)),
    torch.arange(3).to(torch.int32).as_strided((3,), (1,)),
    -2,
]

# ---- expect
# f32[2, 2] = 0.0, 0.0, 10.0, 10.0
# f32[3, 3] = 0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0
# f32[3, 4] = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0
# f32[3] = 2.0, 6.0, 10.0
# f32[4] = 8.0, 9.0, 10.0, 11.0
# f32[2, 2, 4] = 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 4.0, 5.0, 6.0, 7.0
# f32[3, 4] = 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 6.0, 7.0, 0.0, 0.0, 0.0, 11.0
