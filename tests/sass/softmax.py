# test: target=sm_90
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# seg0: 40 registers, 0 bytes of local memory, 656 instructions
#   8 loads of 16 bytes, global
#   4 stores of 16 bytes, global
#   2 loads of 4 bytes, shared
#   4 loads of 16 bytes, shared
#   2 stores of 4 bytes, shared
#   4 stores of 16 bytes, shared
#   4 barriers, 14 shuffles, 0 calls in loops
