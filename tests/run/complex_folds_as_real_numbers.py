# A complex tensor that is folded in a real dtype is cast first.
def folds(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.ComplexFloat)
    fd.add_output(fd.ops.sum(x, dims=[0], dtype=DataType.Float))
    fd.add_output(fd.ops.prod(x, dims=[0], dtype=DataType.Double))
    fd.add_output(fd.ops.prod(x, dims=[1], dtype=DataType.Int32))
    fd.add_output(fd.ops.sum(x, dims=[1], dtype=DataType.ComplexDouble))

inputs = [torch.full((3, 2), 2, dtype=torch.complex64)]

# ---- expect
# f32[2] = 6.0, 6.0
# f64[2] = 8.0, 8.0
# i32[3] = 4, 4, 4
# c128[3] = 4.0+0.0j, 4.0+0.0j, 4.0+0.0j
