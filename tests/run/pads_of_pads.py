# Each result shifted both ways and added to itself, again and again: as one kernel it would read its input at 2^24 places.
def pads(fd):
    y = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.Float)
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    y = fd.ops.add(fd.ops.pad(y, [1, -1]), fd.ops.pad(y, [-1, 1]))
    fd.add_output(y)

inputs = [torch.arange(1, 5, 1, dtype=torch.float32)]

# ---- expect
# f32[4] = 167761.0, 335522.0, 271443.0, 207364.0
