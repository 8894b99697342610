# test: target=sm_90 file=examples/layer_norm.py

# ---- expect
# seg0: 76 registers, 0 bytes of local memory, 748 instructions
#   6 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   2 stores of 16 bytes, global
#   2 loads of 16 bytes, shared
#   2 stores of 16 bytes, shared
#   1 barriers, 72 shuffles, 2 calls in loops
