# What pads, slices and cats take of folded rows is computed of the rows that they take: a padded and rolled norm, parts
# of a scanned softmax, the number of a maximum; what is folded over columns is no matter of them.
def index_maps_behind_folds(fd):
    x = fd.define_tensor(shape=[-1, 6, 8], contiguity=True)
    h = fd.define_tensor(shape=[-1, 6, 8], contiguity=True, dtype=DataType.BFloat16)
    rows = fd.ops.size(x, 0)
    square = fd.ops.mean(fd.ops.mul(x, x), dims=[2], keepdim=True)
    norm = fd.ops.mul(x, fd.ops.rsqrt(fd.ops.add(square, 1.0)))
    padded = fd.ops.pad(norm, [0, 0, 1, 3, 0, 0], 7.0)
    last = fd.ops.slice(padded, [0, 4, 0], [rows, 10, 8])
    fd.add_output(fd.ops.cat([last, fd.ops.slice(padded, [0, 0, 0], [rows, 4, 8])], dim=1))
    wide = fd.ops.cast(h, DataType.Float)
    largest = fd.ops.max(wide, dims=[2], keepdim=True)
    half = fd.ops.cast(fd.ops.div(wide, largest), DataType.BFloat16)
    fd.add_output(fd.ops.pad(half, [0, 0, -1, 2, 0, 1], -1.5))
    fd.add_output(fd.ops.sum(fd.ops.pad(half, [0, 0, -1, 2, 0, 1], 0.0), dims=[0]))
    fd.add_output(fd.ops.pad(fd.ops.argmax(x, 2), [2, 0], 9))
    running = fd.ops.cumsum(fd.ops.softmax(x, dim=2), 2)
    fd.add_output(fd.ops.slice(running, [1, 2, 0], [rows, 5, 8]))
    columns = fd.ops.sub(x, fd.ops.mean(x, dims=[1], keepdim=True))
    fd.add_output(fd.ops.pad(columns, [0, 0, 1, 1], 0.0))
    fd.add_output(fd.ops.pad(columns, [2, 1], 3.0))


inputs = [
    torch.arange(96).to(torch.float32).as_strided((2, 6, 8), (48, 8, 1)),
    torch.arange(144).to(torch.bfloat16).as_strided((3, 6, 8), (48, 8, 1)),
]

# ---- expect
# f32[2, 10, 8] = 0.8691432, 0.9053575, 0.9415718, 0.97778606, 1.0140004, 1.0502146, 1.086429, 1.1226432, 0.89918154, 0.92728096, 0.9553804, 0.9834798, 1.0115793, 1.0396787, 1.0677781, 1.0958775, 0.9180254, 0.940976, 0.9639267, 0.98687726, 1.0098279, 1.0327785, 1.0557292, 1.0786798, …
# bf16[4, 7, 8] = 0.535, 0.6, 0.668, 0.734, 0.8, 0.867, 0.934, 1.0, 0.695, 0.74, 0.78, 0.824, 0.87, 0.914, 0.957, 1.0, 0.773, 0.805, 0.84, 0.87, 0.902, 0.934, 0.97, 1.0, …
# bf16[7, 8] = 2.36, 2.45, 2.55, 2.64, 2.72, 2.81, 2.9, 3.0, 2.53, 2.6, 2.67, 2.73, 2.81, 2.88, 2.94, 3.0, 2.62, 2.69, 2.73, 2.78, 2.84, 2.89, 2.95, 3.0, …
# i64[2, 8] = 9, 9, 7, 7, 7, 7, 7, 7, 9, 9, 7, 7, 7, 7, 7, 7
# f32[1, 3, 8] = 0.0005766128, 0.0021440089, 0.0064046327, 0.01798621, 0.049468197, 0.13504513, 0.36766732, 1.0, 0.0005766128, 0.0021440089, 0.0064046327, 0.01798621, 0.049468197, 0.13504513, 0.36766732, 1.0, 0.0005766128, 0.0021440089, 0.0064046327, 0.01798621, 0.049468197, 0.13504513, 0.36766732, 1.0
# f32[2, 8, 8] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -20.0, -20.0, -20.0, -20.0, -20.0, -20.0, -20.0, -20.0, -12.0, -12.0, -12.0, -12.0, -12.0, -12.0, -12.0, -12.0, …
# f32[2, 6, 11] = 3.0, 3.0, -20.0, -20.0, -20.0, -20.0, -20.0, -20.0, -20.0, -20.0, 3.0, 3.0, 3.0, -12.0, -12.0, -12.0, -12.0, -12.0, -12.0, -12.0, -12.0, 3.0, 3.0, 3.0, …
