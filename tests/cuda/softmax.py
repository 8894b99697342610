# test: target=sm_90
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# // seg0
# //   n1 = fold max [1] (x) : f32[i0]
# //   n2 = broadcast [old, new] (n1) : f32[i0, 1]
# //   n3 = sub (x, n2) : f32[i0, i1]
# //   n4 = exp_nonpositive (n3) : f32[i0, i1]
# //   n5 = fold sum [1] (n4) : f32[i0]
# //   n6 = broadcast [old, new] (n5) : f32[i0, 1]
# //   tv1 = div (n4, n6) : f32[i0, i1]
# // 8*i0*i1 bytes are read and written.
# // schedule lanes 64 warps 32; block x0 by 1; inner x1; lane x1; width 4; persist n4; private
# #ifndef CUEMU
# #define PTX(...) asm(__VA_ARGS__)
# #endif
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
#   if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
#   else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
# }
# template <class T> static __device__ inline T partner(T x, unsigned stride) { return (T)__shfl_xor_sync(~0u, x, stride); }
# // What the states of all threads combine to, for every thread: of each warp, then of the warps, by halves.
# template <int WARPS, class T> static __device__ inline T over_block(T mine, T (*combine)(T, T), unsigned call) {
#   __shared__ T slots[2][WARPS];
#   for (unsigned stride = 16; stride > 0; stride /= 2) mine = combine(mine, partner(mine, stride));
#   if (threadIdx.x % 32 == 0) slots[call % 2][threadIdx.x / 32] = mine;
#   __syncthreads();
#   mine = slots[call % 2][threadIdx.x % WARPS];
#   for (unsigned stride = WARPS / 2; stride > 0; stride /= 2) mine = combine(mine, partner(mine, stride));
#   return mine;
# }
# template <class T> static __device__ inline T propagating_maximum(T a, T b) {
#   T y = a != a ? a : b != b ? b : a > b ? a : b > a ? b : signbit(a) ? b : a;
#   if constexpr (sizeof(T) == 4) PTX("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
#   return y;
# }
# static __device__ inline float combine_max(float a, float b) { return propagating_maximum(a, b); }
# static __device__ inline float combine_sum(float a, float b) { return a + b; }
#
# // seg0: reads x (f32); writes tv1 (f32).
# // Blocks: i0. Threads of a block: 64.
# // Assumes i1 % 64 == 0, i1 <= 1024, x aligned to 16 bytes, tv1 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(64) seg0(
#     const float* __restrict__ x, float* __restrict__ tv1, long long i0, long long i1) {
#   const long long x0 = blockIdx.x;
#   unsigned calls = 0;
#   const int mine = 4 * threadIdx.x, end = i1;
#   vec<float, 4> w0[4];
#   float a0 = __uint_as_float(0xff800000u);
#   vec<float, 4> v1[4];
#   const float* const x_row = x + x0 * i1;
#   if (end > 0) {
#     #pragma unroll
#     for (int k = 0, first = mine; k < 4; k++, first += 256)
#       v1[k] = load<4>(x_row + min(first, end - 4));
#   }
#   #pragma unroll
#   for (int k = 0, first = mine; k < 4; k++, first += 256)
#     if (first < end) {
#       #pragma unroll
#       for (int j = 0; j < 4; j++) a0 = propagating_maximum(a0, v1[k].at[j]);
#     }
#   const float v4 = over_block<2>(a0, combine_max, calls++);
#   float a2 = 0.0f;
#   vec<float, 4> v7[4];
#   if (end > 0) {
#     #pragma unroll
#     for (int k = 0, first = mine; k < 4; k++, first += 256)
#       v7[k] = load<4>(x_row + min(first, end - 4));
#   }
#   #pragma unroll
#   for (int k = 0, first = mine; k < 4; k++, first += 256)
#     if (first < end) {
#       #pragma unroll
#       for (int j = 0; j < 4; j++) {
#         const float v9 = expf(v7[k].at[j] - v4);
#         a2 = a2 + v9;
#         w0[k].at[j] = v9;
#       }
#     }
#   const float v12 = over_block<2>(a2, combine_sum, calls++);
#   float* const tv1_row = tv1 + x0 * i1;
#   #pragma unroll
#   for (int k = 0, first = mine; k < 4; k++, first += 256)
#     if (first < end) {
#       vec<float, 4> y0;
#       #pragma unroll
#       for (int j = 0; j < 4; j++) y0.at[j] = w0[k].at[j] / v12;
#       store(tv1_row + first, y0);
#     }
# }
