def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    with fd.group("norm", stay=True):
        total = fd.ops.sum(x, dims=[0])
    y = fd.ops.exp(total)
    with fd.group("norm", stay=True):
        z = fd.ops.add(total, y)
    fd.add_output(z)

# ---- expect
# 5:5: `group` needs ops that can run one after the other, but has `norm`: `y` (`exp` on line 5) is outside of it, needs `total` (`sum` on line 4) of it, and is needed in it
#     y = fd.ops.exp(total)
#     ^^^^^^^^^^^^^^^^^^^^^ here
# help: write what lies between inside of the group too, or leave out stay=True
