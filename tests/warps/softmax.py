# test: target=sm_90 file=examples/softmax.py

# ---- expect
# seg0: block 4096 of 8192
#   512 sectors, of 512 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
