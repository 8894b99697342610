# test: target=sm_90 file=examples/gelu_bias.py

# ---- expect
# seg0: 32 registers, 0 bytes of local memory, 276 instructions
#   4 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   64 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
