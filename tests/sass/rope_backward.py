# test: target=sm_90 file=examples/rope_backward.py

# ---- expect
# seg0: 32 registers, 0 bytes of local memory, 459 instructions
#   28 loads of 2 bytes, global
#   12 stores of 2 bytes, global
#   32 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
