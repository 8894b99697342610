# Axes of an input that is used beside its own transpose are seen as either axis of the output: it lies in an order of each
# axis once.
def order_of_an_input_beside_its_transpose(fd):
    x = fd.define_tensor(shape=[2, 2, 2, 1], contiguity=[False, False, None, False], dtype=DataType.Float, stride_order=[0, 2, 3, 1])
    output = fd.ops.permute(fd.ops.exp(x), dims=[2, 1, 0, 3])
    fd.add_output(fd.ops.log_softmax_backward(x, output=output, dim=2))

inputs = [torch.zeros(2, 2, 2, 1)]

# ---- expect
# f32[2, 2, 2, 1] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
