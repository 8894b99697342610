# Along what is concatenated a loop is cut where one tensor ends and the next begins: along columns, of a cat in a cat
# too, and along rows.
def f(fd):
    x = fd.define_tensor(shape=[64, 256], contiguity=True)
    y = fd.define_tensor(shape=[64, 256], contiguity=True)
    a0 = fd.ops.mul(x, 0.5)
    a1 = fd.ops.mul(y, 1.5)
    a2 = fd.ops.mul(x, 2.5)
    a3 = fd.ops.mul(y, 3.5)
    a4 = fd.ops.mul(x, 4.5)
    a5 = fd.ops.mul(y, 5.5)
    a6 = fd.ops.mul(x, 6.5)
    a7 = fd.ops.mul(y, 7.5)
    a8 = fd.ops.mul(x, 8.5)
    a9 = fd.ops.mul(y, 9.5)
    inner = fd.ops.cat([a0, a1, a2], dim=1)
    fd.add_output(fd.ops.cat([inner, a3, a4, a5, a6, a7, a8, a9], dim=1))
    fd.add_output(fd.ops.cat([a0, a1, a2, a3, a4, a5, a6, a7, a8, a9], dim=0))

inputs = [torch.rand((64, 256)), torch.rand((64, 256))]

# ---- expect
# # seg0
# schedule lanes 16
# block x0 by 7
# block x4 by 3072
# inner x4
# lane x4
# prefetch x4 by 512
# partition x4
#
# # seg1
# schedule lanes 16
# block x3 by 64
# block x1 by 1024
# inner x1
# lane x1
# prefetch x1 by 512
# partition x3
