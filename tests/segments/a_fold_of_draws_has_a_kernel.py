# A full fold of what only constants lead to, used beside it: two kernels, not the evaluator.
def a_fold_of_draws_has_a_kernel(fd):
    u = fd.ops.uniform(0.0, 1.0, [2000, 2000], rng_seed=7, rng_offset=5)
    fd.add_output(u - fd.ops.sum(u, dims=[0, 1], keepdim=True))

inputs = []

# ---- expect
# segment seg0 -> u, tv1
# segment seg1 -> tv2
#
# segment  ops  reads     writes    passes  runs as  recomputed
# seg0     12   0 B       15.3 MiB  1       kernel   0
# seg1     1    15.3 MiB  15.3 MiB  1       kernel   0
#
# seg0: u, tv1 <- nothing
#
# seg1: tv2 <- u, tv1
#
# seg0 -> seg1: u (15.3 MiB); in one kernel n19 leaves no axis that workers could divide
# seg0 -> seg1: tv1 (4 B); in one kernel n19 leaves no axis that workers could divide
#
# 45.8 MiB moved, 15.3 MiB compulsory, traffic ratio 3.000
# peak memory 30.5 MiB, inputs not counted
# model: 4055.9 us, which no other cut can beat
