def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.sum(x, dims=[2]))

# ---- expect
# 3:38: `sum`: argument `dims` must be axes from -2 to 1, each once, but is [2]
#     fd.add_output(fd.ops.sum(x, dims=[2]))
#                                      ^^^ expected axes from -2 to 1, each once
