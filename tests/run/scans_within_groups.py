# A running sum within each group of three, beside one that a reshape would cut, which stays whole.
def f(fd):
    x = fd.define_tensor(shape=[-1, 6], contiguity=True)
    rows = fd.ops.size(x, 0)
    groups = fd.ops.reshape(x, new_shape=[rows, 2, 3])
    fd.add_output(fd.ops.reshape(fd.ops.cumsum(groups, dim=2), new_shape=[rows, 6]))
    fd.add_output(fd.ops.reshape(fd.ops.cumsum(x, dim=1), new_shape=[rows, 2, 3]))

inputs = [torch.arange(0, 12, 1, dtype=torch.float32).reshape(2, 6)]

# ---- expect
# f32[2, 6] = 0.0, 1.0, 3.0, 3.0, 7.0, 12.0, 6.0, 13.0, 21.0, 9.0, 19.0, 30.0
# f32[2, 2, 3] = 0.0, 1.0, 3.0, 6.0, 10.0, 15.0, 6.0, 13.0, 21.0, 30.0, 40.0, 51.0
