# test: target=sm_90
def silu_mul(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    z = fd.ops.mul(fd.ops.silu(fd.ops.cast(x, dtype=DataType.Float)), y)
    fd.add_output(fd.ops.cast(z, dtype=DataType.BFloat16))

inputs = [torch.randn((64, 512), dtype=torch.bfloat16), torch.randn((64, 512), dtype=torch.bfloat16)]

# ---- expect
# // seg0
# // seg0: reads n0 (bf16), n1 (bf16); writes n18 (bf16).
# // Blocks: floor_div(i0 * i1 + 1023, 1024). Threads of a block: 256.
#
# typedef unsigned short bf16;  // by its bits
# static __device__ inline float bf16_to_f32(bf16 x) { return __uint_as_float((unsigned)x << 16); }
# // To nearest, ties to even; every NaN becomes the one quiet NaN.
# static __device__ inline bf16 f32_to_bf16(float x) {
#   const unsigned bits = __float_as_uint(x);
#   return x != x ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
# }
#
# extern "C" __global__ void __launch_bounds__(256) seg0(
#     const bf16* __restrict__ n0,
#     const bf16* __restrict__ n1,
#     bf16* __restrict__ n18,
#     long long i0,
#     long long i1) {
#   const long long block = blockIdx.x;
#   for (long long x1 = 1024 * block + threadIdx.x; x1 < min(1024 * block + 1024, i0 * i1); x1 += 256) {
#     const float v1 = bf16_to_f32(n0[x1]);
#     const float v8 = v1 * (1.0f / (1.0f + exp2f(v1 * (-1.442695f))));
#     n18[x1] = f32_to_bf16(v8 * bf16_to_f32(n1[x1]));
#   }
# }
