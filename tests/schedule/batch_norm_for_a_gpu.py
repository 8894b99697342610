# test: target=sm_90
# A block for each channel would wait for one image after the other: two kernels, the first with blocks that share channels.
# Images are no multiple of 64, but one of the neighbours that a thread takes at a time.
def batch_norm(fd):
    x = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True, dtype=DataType.Float)
    n, c, h, w = fd.ops.shape(x)
    variance, mean = fd.ops.var_mean(x, dims=[0, 2, 3], correction=0, keepdim=True)
    fd.add_output(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(variance, 1e-05))))

inputs = [torch.randn((32, 128, 56, 56))]

# ---- expect
# # seg0
# schedule lanes 512 warps 32
# fuse x2 x3
# block x1 by 1
# block x0 by 16
# inner x3
# lane x3
# width 4
# jam x0 by 4
# combine by 8
#
# # seg1
# schedule lanes 256 warps 32
# fuse x2 x3
# block x0 by 1
# block x1 by 1
# inner x3
# lane x3
# width 4
