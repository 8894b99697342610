# What is written to an input has its type.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    fd.add_output(fd.ops.exp(x), x)

# ---- expect
# 4:5: `add_output`: argument `alias_input` must be an input of type f32[i0], but is one of type bf16[i0]
#     fd.add_output(fd.ops.exp(x), x)
#     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected an input of type f32[i0]
