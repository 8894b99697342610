# The gradient of softmax along rows in bf16: y * (dy - sum(y * dy)).
def softmax_backward(fd: FusionDefinition) -> None:
    grad = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    probability = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    dy = fd.ops.cast(grad, dtype=DataType.Float)
    y = fd.ops.cast(probability, dtype=DataType.Float)
    total = fd.ops.sum(fd.ops.mul(y, dy), dims=[1], keepdim=True)
    dx = fd.ops.mul(y, fd.ops.sub(dy, total))
    fd.add_output(fd.ops.cast(dx, dtype=DataType.BFloat16))


inputs = [
    torch.randn((4096, 4096), dtype=torch.bfloat16),
    torch.randn((4096, 4096), dtype=torch.bfloat16),
]
