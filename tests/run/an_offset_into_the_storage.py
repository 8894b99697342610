# An input that begins within its memory.
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[False, True])
    fd.add_output(fd.ops.add(x, x))

inputs = [torch.arange(0, 12, 1, dtype=torch.float32).as_strided((2, 3), (5, 1), 4)]

# ---- expect
# f32[2, 3] = 8.0, 10.0, 12.0, 18.0, 20.0, 22.0
