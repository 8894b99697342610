# test: target=sm_90 file=crates/testing/tests/cuda/definitions/centred.py

# ---- expect
# seg0: 52 registers, 0 bytes of local memory, 373 instructions
#   4 loads of 16 bytes, global
#   6 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   32 bytes in flight
#   1 barriers, 10 shuffles, 0 calls in loops
# seg0_combine0: 56 registers, 0 bytes of local memory, 290 instructions
#   8 loads of 4 bytes, global
#   1 stores of 4 bytes, global
#   8 loads of 8 bytes, shared
#   1 stores of 8 bytes, shared
#   32 bytes in flight
#   1 barriers, 0 shuffles, 0 calls in loops
