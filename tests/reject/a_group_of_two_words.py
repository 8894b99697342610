def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("two words"):
        fd.add_output(fd.ops.exp(x))

# ---- expect
# 3:19: `group`: argument `name` must be a word of letters, digits, `_`, `.`, `:` and `-`, but is "two words"
#     with fd.group("two words"):
#                   ^^^^^^^^^^^ expected a word of letters, digits, `_`, `.`, `:` and `-`
