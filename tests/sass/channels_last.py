# test: target=sm_90
# Images whose channels lie innermost move 16 bytes at a time, as those do that lie as they are declared.
def scaled(fd):
    x = fd.define_tensor(shape=[32, 64, 56, 56], contiguity=True, dtype=DataType.BFloat16, stride_order=[3, 0, 2, 1])
    scale = fd.define_tensor(shape=[64], contiguity=True, dtype=DataType.Float)
    scaled = fd.ops.mul(fd.ops.cast(x, DataType.Float), fd.ops.broadcast(scale, [True, False, True, True]))
    y = fd.ops.cast(fd.ops.silu(scaled), DataType.BFloat16)
    fd.add_output(fd.ops.stride_order(y, stride_order=[3, 0, 2, 1]))

# ---- expect
# seg0: 24 registers, 0 bytes of local memory, 115 instructions
#   3 loads of 16 bytes, global
#   1 stores of 16 bytes, global
#   48 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
