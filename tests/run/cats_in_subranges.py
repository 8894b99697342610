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
# f32[64, 2560] = 0.32442024, 0.25631452, 0.23597567, 0.30572703, 0.1601847, 0.15150802, 0.31779337, 0.0332971, 0.3235675, 0.25923213, 0.24083145, 0.48856616, 0.025896372, 0.16222385, 0.38020042, 0.0959365, 0.06984896, 0.35553786, 0.16267176, 0.053605843, 0.31705993, 0.35760975, 0.15276863, 0.042836323, …
# f32[640, 256] = 0.32442024, 0.25631452, 0.23597567, 0.30572703, 0.1601847, 0.15150802, 0.31779337, 0.0332971, 0.3235675, 0.25923213, 0.24083145, 0.48856616, 0.025896372, 0.16222385, 0.38020042, 0.0959365, 0.06984896, 0.35553786, 0.16267176, 0.053605843, 0.31705993, 0.35760975, 0.15276863, 0.042836323, …
