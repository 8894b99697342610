# test: target=h200 file=examples/layer_norm_backward.py

# All blocks, two of 256 threads on each multiprocessor, run at once.

# ---- expect
# # seg0
# schedule lanes 256 warps 32
# block x0 by 32
# inner x1
# lane x1
# width 8
# combine by 32
# persist n7
# persist n9
# private
