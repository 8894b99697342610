# Of a residual and its sum the tokens lie next to each other, of two others the channels: lanes take the tokens, a register of
# them, in strips of which a line each stays in the nearest cache.
def lanes_across_rows(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[1500, 512], contiguity=True, dtype=DataType.Float)
    residual = fd.define_tensor(shape=[1500, 512], contiguity=True, dtype=DataType.Float, stride_order=[0, 1])
    sum = fd.ops.add(residual, x)
    centered = fd.ops.sub(sum, fd.ops.mean(sum, dims=[1], keepdim=True))
    fd.add_output(fd.ops.stride_order(sum, stride_order=[0, 1]))
    fd.add_output(fd.ops.mul(centered, x))
    fd.add_output(fd.ops.stride_order(fd.ops.mul(centered, centered), stride_order=[0, 1]))

# ---- expect
# # seg0
# schedule lanes 8
# block x0 by 128
# inner x1
# lane x0 outside
