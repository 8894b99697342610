# Both indices are out of range; of several ops the first is told, and of its indices the smallest.
def f(fd):
    table = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int)
    first = fd.ops.embedding_fwd(index, table)
    second = fd.ops.index_select(table, fd.ops.iota(8, -9), dim=0)
    fd.add_output(second)
    fd.add_output(first)

inputs = [torch.randn((10, 3), dtype=torch.bfloat16), torch.arange(35).as_strided((5, 7), (7, 1))]

# ---- expect
# line 5: `embedding_fwd`: index 10 is out of range for axis 0 of size 10
