def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.ops.exp(x):
        fd.add_output(x)

# ---- expect
# 3:5: this block is no group
#     with fd.ops.exp(x):
#     ^^^^^^^^^^^^^^^^^^ expected `with fd.group("name"):`
