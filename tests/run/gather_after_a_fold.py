# The source of a gather needs a fold, so it is kept in memory; an index that needs one is read where it is computed.
def gather_after_a_fold(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    table = fd.define_tensor(shape=[-1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    sums = fd.ops.sum(x, dims=[1])
    fd.add_output(fd.ops.index_select(sums, index, dim=0))
    whole = fd.ops.cast(fd.ops.max(x, dims=[1]), dtype=DataType.Int)
    fd.add_output(fd.ops.index_select(table, whole, dim=0))


inputs = [
    torch.arange(12).to(torch.float32).as_strided((4, 3), (3, 1)),
    torch.arange(20).to(torch.float32).as_strided((20,), (1,)),
    torch.arange(4).as_strided((6,), (0,)),
]

# ---- expect
# f32[6] = 3.0, 3.0, 3.0, 3.0, 3.0, 3.0
# f32[4] = 2.0, 5.0, 8.0, 11.0
