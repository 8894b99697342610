# The strides of an input that is not row-major are arguments of its kernel.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[False, False], dtype=DataType.Float)
    fd.add_output(fd.ops.neg(x))

inputs = [torch.randn((40, 60)).as_strided((20, 20), (60, 3))]

# ---- expect
# seg0
#   seg0: ((i0 + 819) // 820)*((i1 + 1023) // 1024) blocks of 16 lanes
#     buffers input 0, store 0
#     arguments i1, i0, stride 0 of input 0, stride 1 of input 0
