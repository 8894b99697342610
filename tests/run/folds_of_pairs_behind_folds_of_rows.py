# The pairs are unrolled behind the reshape, and the stages of the softmax walk tiles of a transposed matrix.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    rows = fd.ops.softmax(fd.ops.permute(x, dims=[1, 0]), dim=1)
    pairs = fd.ops.reshape(rows, new_shape=[70, 45, 2])
    sums = fd.ops.sum(fd.ops.div(pairs, fd.ops.sum(pairs, dims=[2], keepdim=True)), dims=[2])
    fd.add_output(fd.ops.any(fd.ops.gt(fd.ops.abs(fd.ops.sub(sums, fd.define_scalar(1.0))), fd.define_scalar(1e-5))))
    masked = fd.ops.where(fd.ops.gt(x, fd.define_scalar(0.0)), x, fd.define_scalar(-1e9))
    fd.add_output(fd.ops.min(fd.ops.softmax(masked, dim=0), dims=[0, 1]))

inputs = [torch.randn((90, 70))]

# ---- expect
# bool[] = False
# f32[] = 0.0
