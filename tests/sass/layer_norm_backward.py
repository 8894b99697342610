# test: target=sm_90 file=examples/layer_norm_backward.py

# ---- expect
# seg0: 63 registers, 0 bytes of local memory, 453 instructions
#   4 loads of 4 bytes, global
#   5 loads of 16 bytes, global
#   5 stores of 16 bytes, global
#   1 loads of 8 bytes, shared
#   1 stores of 8 bytes, shared
#   56 bytes in flight
#   1 barriers, 18 shuffles, 0 calls in loops
# seg0_combine0: 60 registers, 0 bytes of local memory, 449 instructions
#   16 loads of 4 bytes, global
#   2 stores of 2 bytes, global
#   64 loads of 8 bytes, shared
#   2 stores of 8 bytes, shared
#   64 bytes in flight
#   1 barriers, 0 shuffles, 0 calls in loops
