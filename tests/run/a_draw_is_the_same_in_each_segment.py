# Both segments need the draw. Computed again it has the same bits, so nothing is left of the difference.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    draw = fd.ops.uniform(fd.define_scalar(0.0), fd.define_scalar(1.0), shape=[64, 128], dtype=DataType.Float)
    cut = fd.ops.segment_set(fd.ops.add(draw, fd.ops.mul(x, fd.define_scalar(0.0))))
    left = fd.ops.abs(fd.ops.sub(cut, draw))
    fd.add_output(fd.ops.max(left, dims=[0, 1]))

inputs = [torch.rand((64, 128))]

# ---- expect
# f32[] = 0.0
