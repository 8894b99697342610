# Transposed, expanded and spread inputs.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[False, False])
    y = fd.define_tensor(shape=[-1, -1], contiguity=[None, True])
    z = fd.define_tensor(shape=[-1, -1], contiguity=[False, False])
    fd.add_output(fd.ops.add(fd.ops.add(x, y), z))

inputs = [
    torch.arange(0, 6, 1, dtype=torch.float32).reshape(3, 2).t(),
    torch.arange(0, 3, 1, dtype=torch.float32).as_strided((2, 3), (0, 1)),
    torch.arange(0, 40, 1, dtype=torch.float32).as_strided((2, 3), (20, 6)),
]

# ---- expect
# f32[2, 3] = 0.0, 9.0, 18.0, 21.0, 30.0, 39.0
