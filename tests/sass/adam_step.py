# test: target=sm_90 file=examples/adam_step.py

# ---- expect
# seg0: 10 registers, 0 bytes of local memory, 12 instructions
#   1 loads of 4 bytes, global
#   1 stores of 4 bytes, global
#   4 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
# seg1: 32 registers, 0 bytes of local memory, 576 instructions
#   1 loads of 4 bytes, global
#   4 loads of 16 bytes, global
#   3 stores of 16 bytes, global
#   64 bytes in flight
#   0 barriers, 0 shuffles, 16 calls in loops
