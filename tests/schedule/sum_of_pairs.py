# Gradients of keys that two heads of queries share: the axis of two fits one piece, so that no partial results are left.
def sum_of_pairs(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[4, 2, 1024, 64], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[1]))

# ---- expect
# # seg0
# schedule lanes 16
# block x0 by 1
# block x2 by 256
# block x3 by 1024
# inner x3
# lane x3
