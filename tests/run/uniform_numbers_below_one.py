# Element 3 has the word 2^32 - 52, which f32 rounds to 1: it is the lower end.
def f(fd):
    fd.add_output(fd.ops.philox(0, 11031643, fd.ops.iota(1, 3)))
    fd.add_output(fd.ops.uniform(0.0, 1.0, shape=[4], rng_seed=0, rng_offset=11031643, dtype=DataType.Float))
    fd.add_output(fd.ops.uniform(2.0, 3.0, shape=[4], rng_seed=0, rng_offset=11031643, dtype=DataType.Half))


inputs = []

# ---- expect
# i64[1] = 4294967244
# f32[4] = 0.55448353, 0.89950806, 0.6613898, 0.0
# f16[4] = 2.555, 2.9, 2.662, 2.0
