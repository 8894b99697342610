def f(fd):
    fd.add_output(fd.ops.uniform(0.0, 1.0, shape=[4], dtype=DataType.Float, rng_seed=7))

# ---- expect
# 2:19: `uniform`: argument `rng_offset` must be an offset, as `rng_seed` is given, but is missing
#     fd.add_output(fd.ops.uniform(0.0, 1.0, shape=[4], dtype=DataType.Float, rng_seed=7))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected an offset, as `rng_seed` is given
