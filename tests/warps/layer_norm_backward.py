# test: target=sm_90 file=examples/layer_norm_backward.py

# ---- expect
# seg0: block 128 of 256
#   26368 sectors, of 26368 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
# seg0_combine0: block 128 of 256
#   1026 sectors, of 1026 at least
#   0 bank conflicts in 128 accesses of shared memory
#   lanes 51.6 % busy
