# test: target=sm_90 file=examples/layer_norm_backward.py

# ---- expect
# seg0: 121 registers, 0 bytes of local memory, 633 instructions
#   2 loads of 4 bytes, global
#   12 loads of 16 bytes, global
#   10 stores of 16 bytes, global
#   1 loads of 8 bytes, shared
#   1 stores of 8 bytes, shared
#   96 bytes in flight
#   3 barriers, 16 shuffles, 0 calls in loops
# seg0_combine0: 72 registers, 0 bytes of local memory, 444 instructions
#   66 loads of 4 bytes, global
#   2 stores of 2 bytes, global
#   136 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
