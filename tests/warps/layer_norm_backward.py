# test: target=sm_90 file=examples/layer_norm_backward.py

# ---- expect
# seg0: block 128 of 256
#   41984 sectors, of 41984 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
# seg0_combine0: block 64 of 128
#   2052 sectors, of 2052 at least
#   0 bank conflicts in 256 accesses of shared memory
#   lanes 51.6 % busy
