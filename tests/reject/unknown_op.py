def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.brodcast(x, is_broadcast_dim=[True, False]))

# ---- expect
# 3:19: `brodcast` is not an op
#     fd.add_output(fd.ops.brodcast(x, is_broadcast_dim=[True, False]))
#                   ^^^^^^^^^^^^^^^ here
# help: did you mean `broadcast`?
