def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    fd.add_output(x)

inputs = [torch.randn((10,)).as_strided((4, 4), (4, 1))]

# ---- expect
# 5:11: this view reaches beyond its storage
# inputs = [torch.randn((10,)).as_strided((4, 4), (4, 1))]
#           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the storage has 10 elements
