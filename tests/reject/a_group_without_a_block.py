def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.group("far")
    fd.add_output(fd.ops.exp(x))

# ---- expect
# 3:5: a group without a block
#     fd.group("far")
#     ^^^^^^^^ expected `with fd.group(...):`
