def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    s = fd.define_scalar(None, dtype=DataType.Int)
    fd.add_output(fd.ops.mul(x, s))

inputs = [torch.ones((2,)), 2.7]

# ---- expect
# 6:10: the input for `s` does not fit its declaration
# inputs = [torch.ones((2,)), 2.7]
#          ^^^^^^^^^^^^^^^^^^^^^^^ expected a number that i64 can hold, given the number 2.7
