def f(fd):
    x = fd.define_tensor(shape=[4, 6], contiguity=True)
    ends = fd.define_tensor(shape=[2], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.grouped_mm(x, fd.ops.permute(x, dims=[1, 0]), ends))

inputs = [torch.zeros((4, 6)), torch.arange(5, 3, -1, dtype=torch.int32)]

# ---- expect
# grouped_mm: a group ends at 4, which is not from 5, where it starts, to the size 6
