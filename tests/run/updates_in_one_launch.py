# Updates of tensors of unlike sizes, known and not, are independent and alike: one launch does several of them.
def updates(fd):
    a = fd.define_tensor(shape=[3], contiguity=True, dtype=DataType.Float)
    b = fd.define_tensor(shape=[3], contiguity=True, dtype=DataType.Float)
    c = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    d = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    e = fd.define_tensor(shape=[2, 2], contiguity=True, dtype=DataType.Float)
    f = fd.define_tensor(shape=[2, 2], contiguity=True, dtype=DataType.Float)
    g = fd.define_tensor(shape=[5], contiguity=True, dtype=DataType.Float)
    h = fd.define_tensor(shape=[5], contiguity=True, dtype=DataType.Float)
    i = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    j = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sub(a, fd.ops.mul(b, 0.5)), a)
    fd.add_output(fd.ops.sub(c, fd.ops.mul(d, 0.5)), c)
    fd.add_output(fd.ops.sub(e, fd.ops.mul(f, 0.5)), e)
    fd.add_output(fd.ops.sub(g, fd.ops.mul(h, 0.5)), g)
    fd.add_output(fd.ops.sub(i, fd.ops.mul(j, 0.5)), i)

inputs = [
    torch.arange(0, 3, 1, dtype=torch.float32),
    torch.full((3,), 2, dtype=torch.float32),
    torch.arange(0, 4, 1, dtype=torch.float32),
    torch.full((4,), 4, dtype=torch.float32),
    torch.ones((2, 2)),
    torch.zeros((2, 2)),
    torch.arange(0, 5, 1, dtype=torch.float32),
    torch.full((5,), 6, dtype=torch.float32),
    torch.zeros(0),
    torch.zeros(0),
]

# ---- expect
# f32[3] = -1.0, 0.0, 1.0
# f32[4] = -2.0, -1.0, 0.0, 1.0
# f32[2, 2] = 1.0, 1.0, 1.0, 1.0
# f32[5] = -3.0, -2.0, -1.0, 0.0, 1.0
# f32[0] =
