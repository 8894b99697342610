# test: target=sm_90 file=examples/cross_entropy.py

# ---- expect
# seg0: block 512 of 1024
#   2000 sectors, of 2000 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 97.7 % busy
# seg0_combine0: block 0 of 1
#   128 sectors, of 128 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
