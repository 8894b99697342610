# test: target=sm_90
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# seg0: 48 registers, 0 bytes of local memory, 1170 instructions
#   35 loads of 16 bytes, global
#   7 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   1 loads of 8 bytes, shared
#   7 loads of 16 bytes, shared
#   1 stores of 4 bytes, shared
#   1 stores of 8 bytes, shared
#   4 stores of 16 bytes, shared
#   4 barriers, 21 shuffles, 28 calls in loops
