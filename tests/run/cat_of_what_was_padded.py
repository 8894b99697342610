# The printer of nvFuser pads each operand of a cat to its place first; the padding is not part of the result.
def f(fd):
    a = fd.define_tensor(shape=[-1, 2], contiguity=True)
    b = fd.define_tensor(shape=[-1, 2], contiguity=True)
    c = fd.ops.pad(a, pad_widths=[0, 0, 0, 3], value=7.0)
    d = fd.ops.pad(b, pad_widths=[0, 0, 2, 0], value=9.0)
    fd.add_output(fd.ops.cat([c, d], dim=0, manual_padding=True))

inputs = [torch.arange(0, 4, 1, dtype=torch.float32).reshape(2, 2), torch.arange(4, 10, 1, dtype=torch.float32).reshape(3, 2)]

# ---- expect
# f32[5, 2] = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0
