# test: target=sm_90 file=examples/layer_norm.py

# ---- expect
# seg0: block 4096 of 8192
#   1024 sectors, of 1024 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
