def f(fd):
    x = fd.define_tensor(shape=[4, 4], contiguity=True)
    fd.add_output(fd.ops.scaled_mm(x, x, x, x))

# ---- expect
# 3:19: `scaled_mm` is for NVIDIA GPUs alone: it multiplies block-scaled formats, which their tensor cores hold
#     fd.add_output(fd.ops.scaled_mm(x, x, x, x))
#                   ^^^^^^^^^^^^^^^^ here
