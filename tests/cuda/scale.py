# test: target=sm_80
def scale(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.mul(x, 2.0))

inputs = [torch.randn((1000,))]

# ---- expect
# // seg0
# // seg0: reads n0 (f32); writes n2 (f32).
# // Blocks: floor_div(i0 + 1023, 1024). Threads of a block: 256.
# extern "C" __global__ void __launch_bounds__(256) seg0(
#     const float* __restrict__ n0,
#     float* __restrict__ n2,
#     long long i0) {
#   const long long block = blockIdx.x;
#   for (long long x0 = 1024 * block + threadIdx.x; x0 < min(i0, 1024 * block + 1024); x0 += 256) {
#     n2[x0] = n0[x0] * 2.0f;
#   }
# }
