def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.pad(x, [9223372036854775807, 1]))

# ---- expect
# 3:19: `pad` needs sizes of at most 63 bits, but has a size beyond, or one of too many parts
#     fd.add_output(fd.ops.pad(x, [9223372036854775807, 1]))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
