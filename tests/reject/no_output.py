def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    y = fd.ops.exp(x)

# ---- expect
# 3:22: `FusionDefinition` needs at least one output, but has none
#     y = fd.ops.exp(x)
#                      ^ here
# help: give results back with fd.add_output(...)
