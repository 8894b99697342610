# test: target=sm_90 file=examples/layer_norm.py

# ---- expect
# seg0: 64 registers, 0 bytes of local memory, 859 instructions
#   12 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   4 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   1 loads of 8 bytes, shared
#   1 stores of 4 bytes, shared
#   1 stores of 8 bytes, shared
#   128 bytes in flight
#   2 barriers, 21 shuffles, 0 calls in loops
