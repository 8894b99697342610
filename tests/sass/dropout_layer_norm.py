# test: target=sm_90 file=examples/dropout_layer_norm.py

# ---- expect
# seg0: 77 registers, 0 bytes of local memory, 1755 instructions
#   8 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   3 stores of 16 bytes, global
#   2 loads of 16 bytes, shared
#   2 stores of 16 bytes, shared
#   64 bytes in flight
#   1 barriers, 72 shuffles, 2 calls in loops
