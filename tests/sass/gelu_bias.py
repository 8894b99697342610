# test: target=sm_90 file=examples/gelu_bias.py

# ---- expect
# seg0: 45 registers, 0 bytes of local memory, 395 instructions
#   4 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   0 barriers, 0 shuffles, 0 calls in loops
