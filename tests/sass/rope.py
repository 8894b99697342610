# test: target=sm_90 file=examples/rope.py

# ---- expect
# seg0: 40 registers, 0 bytes of local memory, 376 instructions
#   6 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   64 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
