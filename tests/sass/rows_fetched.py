# test: target=sm_90 file=tests/kernel/rows_fetched_on_a_gpu.py
# schedule: lanes 128 warps 32; block x0 by 12; inner x1; lane x1; width 8; private; ring 3 fetch

# ---- expect
# seg0: 40 registers, 0 bytes of local memory, 493 instructions
#   1 loads of 16 bytes, global
#   9 stores of 16 bytes, global
#   3 copies of 16 bytes, global to shared
#   10 loads of 4 bytes, shared
#   8 loads of 16 bytes, shared
#   1 stores of 4 bytes, shared
#   64 bytes in flight
#   1 barriers, 7 shuffles, 0 calls in loops
# seg0_combine0: 64 registers, 0 bytes of local memory, 619 instructions
#   63 loads of 4 bytes, global
#   30 stores of 4 bytes, global
#   128 bytes in flight
#   0 barriers, 0 shuffles, 0 calls in loops
