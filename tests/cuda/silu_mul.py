# test: target=sm_90
def silu_mul(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    z = fd.ops.mul(fd.ops.silu(fd.ops.cast(x, dtype=DataType.Float)), y)
    fd.add_output(fd.ops.cast(z, dtype=DataType.BFloat16))

inputs = [torch.randn((64, 512), dtype=torch.bfloat16), torch.randn((64, 512), dtype=torch.bfloat16)]

# ---- expect
# // seg0
# //   tv2 = cast f32 (x) : f32[i0, i1]
# //   n8 = cast f32 (y) : f32[i2, i3]
# //   n12 = mul (tv2, -1.442695) : f32[i0, i1]
# //   n5 = exp2_bf16_addend (n12) : f32[i0, i1]
# //   n6 = add (1.0, n5) : f32[i0, i1]
# //   n15 = reciprocal_half (n6) : f32[i0, i1]
# //   tv3 = mul (tv2, n15) : f32[i0, i1]
# //   z = mul (tv3, n8) : f32[i0, i1]
# //   tv5 = cast bf16 (z) : bf16[i0, i1]
# // 6*i0*i1 bytes are read and written.
# // schedule lanes 256 warps 32; fuse x0 x1; block x1 by 4096; inner x1; lane x1; width 8
# #ifndef CUEMU
# #define PTX(...) asm(__VA_ARGS__)
# #endif
# typedef unsigned short bf16;  // by its bits
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
#   if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
#   else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
# }
# static __device__ inline float bf16_to_f32(bf16 x) {
#   float y = __uint_as_float((unsigned)x << 16);
#   PTX("mov.b32 %0, {%1, %2};" : "=f"(y) : "h"((bf16)0), "h"(x));
#   return y;
# }
# // To nearest, ties to even; every NaN becomes one quiet NaN.
# static __device__ inline bf16 f32_to_bf16(float x) {
#   const unsigned bits = __float_as_uint(x);
#   bf16 y = x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
#   PTX("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
#   return y;
# }
# static __device__ inline float exp2_approximate(float x) {
#   float y = exp2f(x * 0.5f);
#   PTX("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 0.5f));
#   return y * y;
# }
# static __device__ inline float reciprocal_positive(float x) {
#   float y = 1.0f / x;
#   PTX("{ .reg .f32 r; rsqrt.approx.ftz.f32 r, %1; mul.rn.f32 %0, r, r; }" : "=f"(y) : "f"(x));
#   return y;
# }
#
# // seg0: reads x (bf16), y (bf16); writes tv5 (bf16).
# // Blocks: floor_div(i0 * i1 + 4095, 4096). Threads of a block: 256.
# // Assumes i1 % 64 == 0, x aligned to 16 bytes, y aligned to 16 bytes, tv5 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(256) seg0(
#     const bf16* __restrict__ x, const bf16* __restrict__ y, bf16* __restrict__ tv5, long long i0, long long i1) {
#   const long long block = blockIdx.x;
#   {
#     const int mine = 8 * threadIdx.x, end = -4096 * block + min(4096 * block + 4096, i0 * i1);
#     vec<bf16, 8> v0[2], v9[2];
#     if (end > 0) {
#       #pragma unroll
#       for (int k = 0, first = mine; k < 2; k++, first += 2048) {
#         v0[k] = load<8>(x + 4096 * block + min(first, end - 8));
#         v9[k] = load<8>(y + 4096 * block + min(first, end - 8));
#       }
#     }
#     #pragma unroll
#     for (int k = 0, first = mine; k < 2; k++, first += 2048)
#       if (first < end) {
#         vec<bf16, 8> y0;
#         #pragma unroll
#         for (int j = 0; j < 8; j++) {
#           const float v1 = bf16_to_f32(v0[k].at[j]);
#           const float v7 = reciprocal_positive(1.0f + exp2_approximate(v1 * (-1.442695f)));
#           const bf16 v12 = f32_to_bf16((v1 * v7) * bf16_to_f32(v9[k].at[j]));
#           y0.at[j] = v12;
#         }
#         store(tv5 + 4096 * block + first, y0);
#       }
#   }
# }
