# Two groups of two channels: what is folded over a group is known to its channels.
def f(fd):
    x = fd.define_tensor(shape=[-1, 4, -1], contiguity=True)
    batch, channels, width = fd.ops.shape(x)
    groups = fd.ops.reshape(x, new_shape=[batch, 2, 2, width])
    mean = fd.ops.mean(groups, dims=[2, 3], keepdim=True)
    fd.add_output(fd.ops.reshape(fd.ops.sub(groups, mean), new_shape=[batch, 4, width]))
    fd.add_output(mean)

inputs = [torch.arange(0, 16, 1, dtype=torch.float32).reshape(2, 4, 2)]

# ---- expect
# f32[2, 4, 2] = -1.5, -0.5, 0.5, 1.5, -1.5, -0.5, 0.5, 1.5, -1.5, -0.5, 0.5, 1.5, -1.5, -0.5, 0.5, 1.5
# f32[2, 2, 1, 1] = 1.5, 5.5, 9.5, 13.5
