# An input holds one output only.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.neg(x), x)
    fd.add_output(fd.ops.exp(x), x)

# ---- expect
# 5:5: `add_output`: argument `alias_input` must be an input that no other output is written to, but is one that is
#     fd.add_output(fd.ops.exp(x), x)
#     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected an input that no other output is written to
