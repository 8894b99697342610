// out = silu(x) * y in bf16, n elements, a grid-stride loop over vectors of four and a scalar tail.
typedef unsigned short bf16;
static __device__ __forceinline__ float widen(bf16 bits) { return __uint_as_float((unsigned)bits << 16); }
#ifdef CUEMU
static __device__ __forceinline__ bf16 narrow(float value) { return cuemu::float_to_bfloat16(value); }
#else
static __device__ __forceinline__ bf16 narrow(float value) {
  bf16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#endif
static __device__ __forceinline__ bf16 silu_mul_one(bf16 x, bf16 y) {
  float value = widen(x);
  float silu = widen(narrow(__fdividef(value, 1.f + __expf(-value))));
  return narrow(silu * widen(y));
}
extern "C" __global__ void __launch_bounds__(128)
silu_mul(const bf16* __restrict__ x, const bf16* __restrict__ y, bf16* __restrict__ out, long long n) {
  long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
  for (long long i = first; i < n / 4; i += step) {
    ushort4 a = reinterpret_cast<const ushort4*>(x)[i], b = reinterpret_cast<const ushort4*>(y)[i];
    reinterpret_cast<ushort4*>(out)[i] = make_ushort4(silu_mul_one(a.x, b.x), silu_mul_one(a.y, b.y),
                                                      silu_mul_one(a.z, b.z), silu_mul_one(a.w, b.w));
  }
  for (long long i = n / 4 * 4 + first; i < n; i += step) out[i] = silu_mul_one(x[i], y[i]);
}
