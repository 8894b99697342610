# Pairs, triples and quadruples of neighbours are unrolled within the lanes: every second, third or fourth element is loaded and
# stored by whole vectors, and by one element after the other where a row ends within one. Odd lengths, and a length below a vector.
def pairs(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1, 2], contiguity=True, dtype=DataType.Float)
    w = fd.define_tensor(shape=[-1, 1], contiguity=True, dtype=DataType.Float)
    even = fd.ops.slice(x, [0, 0, 0], [7, 83, 1])
    odd = fd.ops.slice(x, [0, 0, 1], [7, 83, 2])
    rotated = fd.ops.cat([fd.ops.sub(fd.ops.mul(even, w), odd), fd.ops.add(odd, even)], dim=2)
    fd.add_output(rotated)
    h = fd.define_tensor(shape=[-1, -1, 3], contiguity=True, dtype=DataType.BFloat16)
    one = fd.ops.slice(h, [0, 0, 0], [5, 67, 1])
    others = fd.ops.slice(h, [0, 0, 1], [5, 67, 3])
    fd.add_output(fd.ops.cat([fd.ops.neg(others), fd.ops.exp(one)], dim=2))
    q = fd.define_tensor(shape=[-1, 4], contiguity=True, dtype=DataType.Half)
    c = fd.define_tensor(shape=[-1, 1], contiguity=True, dtype=DataType.Half)
    fd.add_output(fd.ops.mul(q, c))
    fd.add_output(fd.ops.gt(q, c))


inputs = [
    torch.randn((7, 83, 2), dtype=torch.float32),
    torch.randn((83, 1), dtype=torch.float32),
    torch.randn((5, 67, 3), dtype=torch.bfloat16),
    torch.randn((131, 4), dtype=torch.float16),
    torch.randn((131, 1), dtype=torch.float16),
]

# ---- expect
# f32[7, 83, 2] = 1.0711212, 0.57219946, 0.55621207, -0.2391336, 1.6749406, -1.2174263, 0.91936594, -0.3059122, 0.35931486, -1.7092555, -1.4342752, 1.3938669, 0.47380412, 0.718487, -1.2072008, 0.19408607, -0.9320863, 0.9279974, -1.2263243, 1.2485095, -2.0053082, 1.580756, -0.07481073, -0.10315546, …
# f32[5, 67, 3] = -0.13085938, -0.33789062, 0.23938371, 0.3984375, -0.34179688, 1.4865892, 1.15625, 1.5234375, 0.8816355, 1.390625, -1.265625, 0.5167706, 0.052978516, -0.51953125, 0.6469108, 1.5, -1.046875, 2.4366522, 0.8828125, -1.3125, 1.1702607, 2.03125, -0.609375, 2.244749, …
# f32[131, 4] = 0.071799874, -0.0168152, -0.0039127395, -0.053378314, 0.029014349, -0.20186424, -0.031250417, 0.076498985, -0.0039553195, -0.13586497, -0.040270507, 0.10256553, 0.078215, 0.104545355, 0.13015509, 0.15953422, -0.021455884, -8.619251e-5, 0.06718612, 0.04908192, -0.35907292, 0.96219945, -0.28005755, -0.28150737, …
# bool[131, 4] = False, True, True, True, False, True, True, False, False, False, False, True, False, False, False, False, False, False, True, True, False, False, False, False, …
