# Logarithms of distances are the same for all heads: kept, as a kernel of them all would compute them for each head again.
# What is cheap, as a sum with one, is computed again.
def biased_scores(fd: FusionDefinition) -> None:
    scores = fd.define_tensor(shape=[8, 1024, 1024], contiguity=True, dtype=DataType.Float)
    weights = fd.define_tensor(shape=[1024, 1024], contiguity=True, dtype=DataType.Float)
    distance = fd.ops.iota(length=1024, start=1, step=1, dtype=DataType.Float)
    pairs = fd.ops.mul(fd.ops.broadcast(distance, [False, True]), fd.ops.broadcast(distance, [True, False]))
    bias = fd.ops.log(pairs)
    weight = fd.ops.add(weights, 1.0)
    biased = fd.ops.add(scores, fd.ops.broadcast(bias, [True, False, False]))
    fd.add_output(fd.ops.mul(biased, fd.ops.broadcast(weight, [True, False, False])))

# ---- expect
# segment seg0 -> bias
# segment seg1 -> tv11
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     5    0 B       4.0 MiB   1       kernel   0
# seg1     5    40.0 MiB  32.0 MiB  1       kernel   0
#
# seg0: bias <- nothing
#
# seg1: tv11 <- scores, weights, bias
#
# seg0 -> seg1: bias (4.0 MiB); one kernel would do for these two; the segmentation keeps them apart
#
# 76.0 MiB moved, 68.0 MiB compulsory, traffic ratio 1.118
# peak memory 36.0 MiB, inputs not counted
# model: 3240.1 us, no cut below 3234.1 us (gap 0.2 %)
