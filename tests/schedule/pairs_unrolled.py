# A rotary embedding of neighbours: lanes walk the pairs, both elements of which are written one after the other.
def rotary(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1, 64, 2], contiguity=True, dtype=DataType.BFloat16)
    angle = fd.define_tensor(shape=[-1, 64, 1], contiguity=True, dtype=DataType.Float)
    n, m = fd.ops.size(x, 0), fd.ops.size(x, 1)
    even = fd.ops.slice(x, [0, 0, 0, 0], [n, m, 64, 1])
    odd = fd.ops.slice(x, [0, 0, 0, 1], [n, m, 64, 2])
    c, s = fd.ops.cos(angle), fd.ops.sin(angle)
    first = fd.ops.sub(fd.ops.mul(even, c), fd.ops.mul(odd, s))
    second = fd.ops.add(fd.ops.mul(even, s), fd.ops.mul(odd, c))
    fd.add_output(fd.ops.cat([first, second], dim=3))


inputs = [torch.randn((32, 512, 64, 2), dtype=torch.bfloat16), torch.randn((512, 64, 1))]

# ---- expect
# # seg0
# schedule lanes 32
# fuse x0 x1
# block x1 by 16384
# inner x1
# lane x1
#
# # seg1
# schedule lanes 16
# block x0 by 1
# block x1 by 128
# inner x4
# inner x2
# lane x2
# prefetch x2 by 512
# unroll x4
