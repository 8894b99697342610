def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    for i in range(3):
        x = fd.ops.add(x, i)
    fd.add_output(x)

# ---- expect
# 3:5: `for` is not part of the definition language
#     for i in range(3):
#     ^^^ expected a statement
# help: definitions are straight-line programs: assignments and calls, one after the other
