# A scan along rows: lanes take rows, and what feeds it and follows it shares its loop.
def f(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True)
    T1 = fd.ops.cumsum(T0 * 2.0, 1)
    fd.add_output(fd.ops.exp(T1))

# ---- expect
# seg0
#   seg0: ((i0 + 127) // 128) blocks of 8 lanes
#     buffers input 0, store 0
#     arguments i0, i1
