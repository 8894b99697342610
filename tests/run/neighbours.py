# The next number of the dtype itself, through zero and up to infinity; equal numbers give the second.
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    y = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(fd.ops.nextafter(x, y))
    fd.add_output(fd.ops.nextafter(y, x))
    fd.add_output(fd.ops.nextafter(fd.ops.cast(x, dtype=DataType.Double), 8.0))
    fd.add_output(fd.ops.nextafter(fd.ops.mul(x, 3.4028235e38), fd.ops.div(x, fd.ops.sub(x, x))))

inputs = [torch.arange(-1, 2, 1, dtype=torch.float32), torch.ones(3)]

# ---- expect
# f32[3] = -0.99999994, 1e-45, 1.0
# f32[3] = 0.99999994, 0.99999994, 1.0
# f64[3] = -0.9999999999999999, 5e-324, 1.0000000000000002
# f32[3] = float("-inf"), float("nan"), float("inf")
