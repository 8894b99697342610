# Draws that name their seed and offset, and draws that take the call's: the first of seed 0 is that of (0, 0), the
# second that of (0, 1). Doubles take two words, half types are rounded and never 1.
def random_numbers(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    first = fd.ops.rand_like(x)
    second = fd.ops.randn_like(x)
    fd.add_output(first)
    fd.add_output(fd.ops.uniform(0.0, 1.0, fd.ops.shape(x), rng_seed=0, rng_offset=0))
    fd.add_output(fd.ops.sub(second, fd.ops.normal(0.0, 1.0, fd.ops.shape(x), rng_seed=0, rng_offset=1)))
    fd.add_output(fd.ops.uniform(-1.0, 3.0, shape=[5], rng_seed=7, rng_offset=2, dtype=DataType.Double))
    fd.add_output(fd.ops.normal(1.0, 2.0, shape=[5], rng_seed=7, rng_offset=2, dtype=DataType.Double))
    fd.add_output(fd.ops.uniform(0.0, 1.0, shape=[4], rng_seed=3, rng_offset=0, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.normal(0.0, 1.0, shape=[4], rng_seed=3, rng_offset=0, dtype=DataType.Half))
    fd.add_output(fd.ops.uniform(0.0, 1.0, shape=[], rng_seed=3, rng_offset=0))


inputs = [torch.ones((3, 5))]

# ---- expect
# f32[3, 5] = 0.39904648, 0.8805202, 0.73571277, 0.60548186, 0.51667917, 0.9396581, 0.058986682, 0.51550996, 0.024930386, 0.7129273, 0.14894538, 0.465765, 0.9400794, 0.06775801, 0.74559015
# f32[3, 5] = 0.39904648, 0.8805202, 0.73571277, 0.60548186, 0.51667917, 0.9396581, 0.058986682, 0.51550996, 0.024930386, 0.7129273, 0.14894538, 0.465765, 0.9400794, 0.06775801, 0.74559015
# f32[3, 5] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
# f64[5] = -0.9661875437555236, 2.394723610093526, 1.6469667695237975, 1.923904176389808, 1.9284123666045003
# f64[5] = -4.02922267116585, 4.5906381527952815, -0.804458789479009, 0.7832780287621064, 0.029104126782043327
# bf16[4] = 0.816, 0.1167, 0.656, 0.766
# f16[4] = 0.4263, 0.4727, -0.914, 0.0877
# f32[] = 0.816655
