# Counts of moments are tensors like the moments, in two passes too, of rows and of all.
def counts(fd):
    x = fd.define_tensor(shape=[-1, 3], contiguity=True, dtype=DataType.Float)
    mean, squares, count = fd.ops.welford(x, dims=[1])
    fd.add_output(count)
    fd.add_output(fd.ops.div(squares, count))
    y = fd.define_tensor(shape=[2, 2], contiguity=True, dtype=DataType.Float)
    mean, squares, count = fd.ops.welford(y, dims=[0, 1])
    fd.add_output(mean)
    fd.add_output(count)

inputs = [torch.randn((2, 3)), torch.randn((2, 2))]

# ---- expect
# f32[2] = 3.0, 3.0
# f32[2] = 0.26989725, 0.2762495
# f32[] = -0.22201751
# f32[] = 4.0
