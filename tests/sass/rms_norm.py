# test: target=sm_90 file=examples/rms_norm.py

# ---- expect
# seg0: 38 registers, 0 bytes of local memory, 309 instructions
#   4 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   1 stores of 4 bytes, shared
#   32 bytes in flight
#   1 barriers, 8 shuffles, 0 calls in loops
