def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group(stay=True):
        fd.add_output(fd.ops.exp(x))

# ---- expect
# 3:10: `group`: argument `name` must be a name in quotes, but is missing
#     with fd.group(stay=True):
#          ^^^^^^^^^^^^^^^^^^^ expected a name in quotes
