# test: target=sm_90 file=examples/softmax.py

# ---- expect
# seg0: 32 registers, 0 bytes of local memory, 269 instructions
#   2 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   2 loads of 4 bytes, shared
#   2 stores of 4 bytes, shared
#   32 bytes in flight
#   2 barriers, 16 shuffles, 0 calls in loops
