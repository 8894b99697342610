# test: target=sm_90 file=examples/cross_entropy.py

# ---- expect
# seg0: 40 registers, 0 bytes of local memory, 681 instructions
#   1 loads of 2 bytes, global
#   1 loads of 8 bytes, global
#   4 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   2 loads of 4 bytes, shared
#   72 bytes in flight
#   1 barriers, 20 shuffles, 0 calls in loops
# seg0_combine0: 32 registers, 0 bytes of local memory, 338 instructions
#   29 loads of 4 bytes, global
#   1 stores of 4 bytes, global
#   1 loads of 8 bytes, shared
#   1 stores of 8 bytes, shared
#   64 bytes in flight
#   1 barriers, 18 shuffles, 0 calls in loops
