# test: target=sm_90 file=examples/batch_norm.py

# ---- expect
# seg0: block 128 of 256
#   6272 sectors, of 6272 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 79.2 % busy
# seg0_combine0: block 8 of 16
#   22 sectors, of 22 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
# seg1: block 2048 of 4096
#   784 sectors, of 784 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 76.6 % busy
