# test: target=sm_90 file=examples/rms_norm.py

# ---- expect
#   6 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   1 stores of 4 bytes, shared
#   32 bytes in flight
