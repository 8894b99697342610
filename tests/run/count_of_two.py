# The count of a fold over two elements, which is unrolled, is one number for each row, also where another op takes it.
def f(fd):
    x = fd.define_tensor(shape=[2, 1], contiguity=[False, None], dtype=DataType.Float)
    _, _, count = fd.ops.welford(x, dims=[0])
    fd.add_output(fd.ops.layer_norm(count, normalized_shape=[1], bias=count, eps=0.125))

inputs = [torch.arange(0, 2, 1, dtype=torch.float32).reshape(2, 1)]

# ---- expect
# f32[1] = 2.0
