# With manual padding each operand must have been padded to its place.
def f(fd):
    x = fd.define_tensor(shape=[2], contiguity=True)
    y = fd.ops.pad(x, pad_widths=[1, 1])
    fd.add_output(fd.ops.cat([x, y], dim=0, manual_padding=True))

# ---- expect
# 5:30: `cat`: argument `tensors` must be a list of tensors, each padded along dimension 0 to its place in the result, but is [a value, a value]
#     fd.add_output(fd.ops.cat([x, y], dim=0, manual_padding=True))
#                              ^^^^^^ expected a list of tensors, each padded along dimension 0 to its place in the result
