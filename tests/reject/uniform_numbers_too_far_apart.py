def f(fd):
    fd.add_output(fd.ops.uniform(-3e38, 3e38, [4], dtype=DataType.Float))

# ---- expect
# 2:41: `uniform`: argument `maxval` must be a number that is less than the largest f32 from -3.0000000054977558e38, but is the number 3e38
#     fd.add_output(fd.ops.uniform(-3e38, 3e38, [4], dtype=DataType.Float))
#                                         ^^^^ expected a number that is less than the largest f32 from -3.0000000054977558e38
