# a * b + c, three tensors read and one written: as near to a copy as arithmetic gets.
def add_mul(fd: FusionDefinition) -> None:
    a = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    b = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    c = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.mul(a, b), c))


inputs = [
    torch.randn((4096, 4096), dtype=torch.float32),
    torch.randn((4096, 4096), dtype=torch.float32),
    torch.randn((4096, 4096), dtype=torch.float32),
]
