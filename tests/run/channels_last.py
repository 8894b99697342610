# A norm and sums of images with channels innermost.
def norms(fd):
    x = fd.define_tensor(shape=[2, 8, 2, 1], contiguity=True, dtype=DataType.Float, stride_order=[3, 0, 2, 1])
    var, mean = fd.ops.var_mean(x, dims=[0, 2, 3], correction=0, keepdim=True)
    normed = fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5)))
    fd.add_output(fd.ops.stride_order(normed, stride_order=[3, 0, 2, 1]))
    fd.add_output(fd.ops.relu(normed))
    fd.add_output(fd.ops.sum(x, dims=[1, 2, 3]))

inputs = [torch.randn((2, 8, 2, 1)).as_strided((2, 8, 2, 1), (16, 1, 8, 8))]

# ---- expect
# f32[2, 8, 2, 1] = 1.337964, -0.7429593, -1.030933, -0.90979266, 1.1269133, 0.07930589, -1.4997976, 1.0993874, -1.2325476, 0.889851, -0.4196356, -1.3019093, -0.019881373, 1.6221856, -0.5705597, -1.133708, 0.5629678, -1.1579726, 0.63407916, 1.3066466, 0.39594784, -1.6021671, 0.6806976, -0.28028733, …
# f32[2, 8, 2, 1] = 1.337964, 0.0, 0.0, 0.0, 1.1269133, 0.07930589, 0.0, 1.0993874, 0.0, 0.889851, 0.0, 0.0, 0.0, 1.6221856, 0.0, 0.0, 0.5629678, 0.0, 0.63407916, 1.3066466, 0.39594784, 0.0, 0.6806976, 0.0, …
# f32[2] = -0.5930881, 3.2562504
