def f(fd):
    fd.add_output(fd.ops.normal(0.0, 1.0, shape=[4], dtype=DataType.Float, rng_offset=3))

# ---- expect
# 2:19: `normal`: argument `rng_seed` must be a seed, as `rng_offset` is given, but is missing
#     fd.add_output(fd.ops.normal(0.0, 1.0, shape=[4], dtype=DataType.Float, rng_offset=3))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a seed, as `rng_offset` is given
