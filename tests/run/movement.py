# Elements moved: permute, slice, pad, cat, reshape.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.ops.permute(x, dims=[1, 0])
    fd.add_output(y)
    fd.add_output(fd.ops.slice(x, start_indices=[0, 1], end_indices=[2, 3]))
    fd.add_output(fd.ops.pad(x, [1, 0], -1.0))
    fd.add_output(fd.ops.reshape(fd.ops.cat([x, x], dim=0), new_shape=[-1]))

inputs = [torch.arange(0, 6, 1, dtype=torch.float32).reshape(2, 3)]

# ---- expect
# f32[3, 2] = 0.0, 3.0, 1.0, 4.0, 2.0, 5.0
# f32[2, 2] = 1.0, 2.0, 4.0, 5.0
# f32[2, 4] = -1.0, 0.0, 1.0, 2.0, -1.0, 3.0, 4.0, 5.0
# f32[12] = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
