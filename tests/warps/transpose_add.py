# test: target=sm_90 file=examples/transpose_add.py

# ---- expect
# seg0: block 2048 of 4096
#   3072 sectors, of 3072 at least
#   0 bank conflicts in 512 accesses of shared memory
#   lanes 100.0 % busy
