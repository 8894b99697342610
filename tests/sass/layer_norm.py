# test: target=sm_90 file=examples/layer_norm.py

# ---- expect
#   9 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   2 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   1 loads of 8 bytes, shared
#   1 stores of 4 bytes, shared
#   1 stores of 8 bytes, shared
#   64 bytes in flight
