def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("far", stream=-1):
        fd.add_output(fd.ops.exp(x))

# ---- expect
# 3:33: `group`: argument `stream` must be the number of a stream, from 0 on, but is the number -1
#     with fd.group("far", stream=-1):
#                                 ^^ expected the number of a stream, from 0 on
