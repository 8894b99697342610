# Folds over two to four elements are unrolled: NaN wins, and of equal elements the first.
def f(fd):
    x = fd.define_tensor(shape=[-1, 3], contiguity=True, dtype=DataType.Float)
    k = fd.define_tensor(shape=[-1, 2, 2], contiguity=True, dtype=DataType.Int)
    y = fd.ops.log(fd.ops.minimum(x, fd.define_scalar(6.0)))
    fd.add_output(fd.ops.sum(y, dims=[1]))
    fd.add_output(fd.ops.prod(x, dims=[1]))
    fd.add_output(fd.ops.max(y, dims=[1]))
    fd.add_output(fd.ops.min(x, dims=[1]))
    fd.add_output(fd.ops.argmax(y, dim=1))
    fd.add_output(fd.ops.argmin(x, dim=1))
    var, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=False)
    fd.add_output(var)
    fd.add_output(mean)
    fd.add_output(fd.ops.sum(k, dims=[1, 2]))
    fd.add_output(fd.ops.any(fd.ops.gt(k, fd.define_scalar(6)), dims=[1, 2]))
    fd.add_output(fd.ops.softmax(fd.ops.mul(x, fd.define_scalar(0.0)), dim=1))

inputs = [
    torch.arange(-2, 10, 1, dtype=torch.float32).reshape(4, 3),
    torch.arange(0, 8, 1, dtype=torch.int64).reshape(2, 2, 2),
]

# ---- expect
# f32[4] = float("nan"), 1.7917595, 4.787492, 5.3752785
# f32[4] = 0.0, 6.0, 120.0, 504.0
# f32[4] = float("nan"), 1.0986123, 1.7917595, 1.7917595
# f32[4] = -2.0, 1.0, 4.0, 7.0
# i64[4] = 0, 2, 2, 0
# i64[4] = 0, 0, 0, 0
# f32[4] = 0.6666667, 0.6666667, 0.6666667, 0.6666667
# f32[4] = -1.0, 2.0, 5.0, 8.0
# i64[2] = 6, 22
# bool[2] = False, True
# f32[4, 3] = 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334, 0.33333334
