# That the axes have size 1 follows from the last line alone; what repeats them stands before it.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.ops.reshape(x, new_shape=[1, 1])
    fd.add_output(fd.ops.expand(y, shape=[3, fd.ops.size(y, dim=1)]))
    fd.add_output(y, x)

inputs = [torch.full((1, 1), 2.0)]

# ---- expect
# f32[3, 1] = 2.0, 2.0, 2.0
# f32[1, 1] = 2.0
