def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(fd.ops.neg(x), alias_input=x, stride_order=[0, 1])

# ---- expect
# 3:5: wrong arguments of `add_output`
#     fd.add_output(fd.ops.neg(x), alias_input=x, stride_order=[0, 1])
#     ^^^^^^^^^^^^^ expected the arguments output and alias_input, or output and stride_order
