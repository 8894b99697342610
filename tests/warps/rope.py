# test: target=sm_90 file=examples/rope.py

# ---- expect
# seg0: block 131072 of 262144
#   40 sectors, of 40 at least
#   0 bank conflicts in 0 accesses of shared memory
#   lanes 100.0 % busy
