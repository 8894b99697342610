# Scans: by name, with a start, of a lambda that does not commute, of two tensors as a linear recurrence, of a scan.
def scan(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.cumsum(T0, 1))
    fd.add_output(fd.ops.cumprod(T0, 0, init=2.0))
    fd.add_output(fd.ops.cummax(fd.ops.neg(T0), -1))
    fd.add_output(fd.ops.scan(T0, lambda a, b: b, init=0.0, dim=1))
    T1, T2 = fd.ops.scan([T0, T0 + 1.0], lambda a, b, c, d: [a * c, b * c + d], init=[1.0, 0.0], dim=1)
    fd.add_output(T1)
    fd.add_output(T2)
    fd.add_output(fd.ops.cumsum(fd.ops.cumsum(T0, 1) * 2.0, 1))

inputs = [torch.arange(6, dtype=torch.float32).reshape(2, 3)]

# ---- expect
# f32[2, 3] = 0.0, 1.0, 3.0, 3.0, 7.0, 12.0
# f32[2, 3] = 0.0, 2.0, 4.0, 0.0, 8.0, 20.0
# f32[2, 3] = -0.0, -0.0, -0.0, -3.0, -3.0, -3.0
# f32[2, 3] = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
# f32[2, 3] = 0.0, 0.0, 0.0, 3.0, 12.0, 60.0
# f32[2, 3] = 1.0, 3.0, 9.0, 4.0, 21.0, 111.0
# f32[2, 3] = 0.0, 2.0, 8.0, 6.0, 20.0, 44.0
