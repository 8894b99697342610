# A reshape splits the channels into groups, and what is folded over a group goes back to the channels: one kernel.
def group_norm(fd):
    x = fd.define_tensor(shape=[-1, 32, -1], contiguity=True, dtype=DataType.Float)
    weight = fd.define_tensor(shape=[32], contiguity=True, dtype=DataType.Float)
    batch, channels, width = fd.ops.shape(x)
    groups = fd.ops.reshape(x, new_shape=[batch, 8, 4, width])
    variance, mean = fd.ops.var_mean(groups, dims=[2, 3], correction=0, keepdim=True)
    normalized = fd.ops.mul(fd.ops.sub(groups, mean), fd.ops.rsqrt(fd.ops.add(variance, 1e-05)))
    back = fd.ops.reshape(normalized, new_shape=[batch, 32, width])
    fd.add_output(fd.ops.mul(back, fd.ops.broadcast_in_dim(weight, shape=[1, 32, 1], broadcast_dims=[1])))

inputs = [torch.randn((16, 32, 512)), torch.randn((32,))]

# ---- expect
# segment seg0 -> tv11
#
# segment  ops  reads    writes   passes  runs as  recomputed
# seg0     15   1.0 MiB  1.0 MiB  1       kernel   0
#
# seg0: tv11 <- x, weight
#
# 2.0 MiB moved, 2.0 MiB compulsory, traffic ratio 1.000
# peak memory 1.0 MiB, inputs not counted
# model: 84.6 us, which no other cut can beat
