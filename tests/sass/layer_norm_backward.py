# test: target=sm_90 file=examples/layer_norm_backward.py

# ---- expect
# seg0: 127 registers, 0 bytes of local memory, 578 instructions
#   2 loads of 4 bytes, global
#   8 loads of 16 bytes, global
#   10 stores of 16 bytes, global
#   1 loads of 8 bytes, shared
#   1 stores of 8 bytes, shared
#   104 bytes in flight
#   1 barriers, 16 shuffles, 0 calls in loops
# seg0_combine0: 64 registers, 0 bytes of local memory, 449 instructions
#   16 loads of 4 bytes, global
#   2 stores of 2 bytes, global
#   64 loads of 8 bytes, shared
#   2 stores of 8 bytes, shared
#   64 bytes in flight
#   1 barriers, 0 shuffles, 0 calls in loops
