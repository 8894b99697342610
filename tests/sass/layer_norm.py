# test: target=sm_90 file=examples/layer_norm.py

# ---- expect
# seg0: 63 registers, 0 bytes of local memory, 790 instructions
#   9 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   2 stores of 16 bytes, global
#   2 loads of 16 bytes, shared
#   2 stores of 16 bytes, shared
#   64 bytes in flight
#   1 barriers, 72 shuffles, 0 calls in loops
