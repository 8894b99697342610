# A fold may stand before an index map that moves no axis of its result: the sum of a row serves both of its halves, and
# the elements after a rotation by half a row. The rows themselves are moved by the roll of `z`, so its fold is kept.
def f(fd):
    x = fd.define_tensor(shape=[-1, 128], contiguity=True)
    y = fd.ops.softmax(x, dim=1)
    rows = fd.ops.size(x, 0)
    left, right = fd.ops.slice(y, [0, 0], [rows, 64]), fd.ops.slice(y, [0, 64], [rows, 128])
    fd.add_output(fd.ops.mul(left, right))
    fd.add_output(fd.ops.add(y, fd.ops.cat([fd.ops.neg(right), left], dim=1)))
    z = fd.define_tensor(shape=[512, -1], contiguity=True)
    n = fd.ops.sub(z, fd.ops.max(z, dims=[1], keepdim=True))
    columns = fd.ops.size(z, 1)
    head, tail = fd.ops.slice(n, [0, 0], [1, columns]), fd.ops.slice(n, [1, 0], [512, columns])
    fd.add_output(fd.ops.cat([tail, head], dim=0))

inputs = [torch.rand((600, 128)), torch.rand((512, 640))]

# ---- expect
# f32[600, 64] = 7.4754775e-5, 5.6850287e-5, 6.404235e-5, 0.00010155295, 3.66308e-5, 3.323679e-5, 5.517412e-5, 2.9032506e-5, 8.836386e-5, 8.1950915e-5, 7.9512225e-5, 9.103709e-5, 3.959418e-5, 4.8062982e-5, 0.00012141977, 2.9363298e-5, 3.431935e-5, 8.0796795e-5, 4.1457388e-5, 3.120237e-5, 6.719791e-5, 9.397171e-5, 6.238398e-5, 3.9305374e-5, …
# f32[600, 128] = 0.0009516068, 0.0008401959, -0.00071329717, -0.002740683, 0.0010081981, 0.001322601, 0.002894232, -0.00058592437, -0.00057024974, -0.0022020536, -0.002559369, 0.0055078813, -0.0028462233, -0.0006732829, -0.0016755518, 0.0007078671, -0.00076078856, 0.001410448, 0.00033845613, -0.0005562054, 0.001536278, 0.00013555959, -0.003145771, -0.00235511, …
# f32[512, 640] = -0.74189097, -0.5523168, -0.54176426, -0.0560323, -0.0021032095, -0.8055066, -0.02660501, -0.51162636, -0.17395812, -0.35681218, -0.6919431, -0.7063726, -0.00066286325, -0.14369541, -0.74857795, -0.22532082, -0.81855714, -0.89889383, -0.14586389, -0.53689575, -0.36136848, -0.060211122, -0.6818888, -0.024077952, …
