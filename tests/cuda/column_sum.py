# test: target=sm_90
def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 512))]

# ---- expect
# // seg0
# //   tv1 = fold sum [0] (x) : f32[i1]
# // 4*i0*i1 + 4*i1 bytes are read and written.
# // schedule lanes 128 warps 32; block x1 by 512; block x0 by 16; inner x1; lane x1; width 4; combine by 8 teams 32;
# // private
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
#   if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
#   else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
# }
# static __device__ inline long long floor_div(long long a, long long b) {
#   return a / b - (a % b != 0 && (a < 0) != (b < 0));
# }
# static __device__ inline long long small_floor_div(unsigned a, long long b) {
#   const unsigned long long size = b < 0 ? -(unsigned long long)b : b;
#   if (size > a) return b < 0 && a > 0 ? -1 : 0;
#   const unsigned quotient = a / (unsigned)size;
#   return b < 0 ? -(long long)quotient - (a % (unsigned)size > 0) : quotient;
# }
# static __device__ inline long long small_floor_mod(unsigned a, long long b) {
#   const unsigned long long size = b < 0 ? -(unsigned long long)b : b;
#   const long long remainder = size > a ? a : a % (unsigned)size;
#   return b < 0 && remainder > 0 ? remainder + b : remainder;
# }
#
# // seg0: reads x (f32); writes tv1_partial0 (f32).
# // Blocks: floor_div(i1 + 511, 512) * floor_div(i0 + 15, 16). Threads of a block: 128.
# // Assumes i1 % 64 == 0, x aligned to 16 bytes, tv1_partial0 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(128) seg0(
#     const float* __restrict__ x, float* __restrict__ tv1_partial0, long long i0, long long i1) {
#   const long long block = blockIdx.x;
#   const long long d0 = floor_div(i0 + 15, 16);
#   const long long d1 = small_floor_div(block, d0);
#   const long long d2 = small_floor_mod(block, d0);
#   vec<float, 4> w0[1];
#   {
#     const int first = 4 * threadIdx.x, end = -512 * d1 + min(512 * d1 + 512, i1);
#     if (first < end) {
#       #pragma unroll
#       for (int j = 0; j < 4; j++) w0[0].at[j] = 0.0f;
#     }
#   }
#   {
#     const int first = 4 * threadIdx.x, end = -512 * d1 + min(512 * d1 + 512, i1);
#     if (first < end) {
#       #pragma unroll 4
#       for (long long x0 = 16 * d2, x0_stop = min(16 * d2 + 16, i0); x0 < x0_stop; x0++) {
#         vec<float, 4> v1[1];
#         const float* const x_row = x + i1 * x0 + 512 * d1;
#         v1[0] = load<4>(x_row + first);
#         #pragma unroll
#         for (int j = 0; j < 4; j++) {
#           const float v2 = w0[0].at[j];
#           w0[0].at[j] = v2 + v1[0].at[j];
#         }
#       }
#     }
#   }
#   float* const tv1_partial0_row = tv1_partial0 + i1 * d2 + 512 * d1;
#   {
#     const int first = 4 * threadIdx.x, end = -512 * d1 + min(512 * d1 + 512, i1);
#     if (first < end) {
#       vec<float, 4> y0;
#       #pragma unroll
#       for (int j = 0; j < 4; j++) y0.at[j] = w0[0].at[j];
#       store(tv1_partial0_row + first, y0);
#     }
#   }
# }
#
# // seg0_combine0: reads tv1_partial0 (f32); writes tv1 (f32).
# // Blocks: floor_div(i1 + 7, 8). Threads of a block: 256.
# extern "C" __global__ void __launch_bounds__(256, 1) seg0_combine0(
#     const float* __restrict__ tv1_partial0, float* __restrict__ tv1, long long i0, long long i1) {
#   const long long block = blockIdx.x;
#   const long long d0 = floor_div(i0 + 15, 16);
#   const long long d1 = floor_div(i0 + 4095, 4096);
#   extern __shared__ __align__(16) unsigned char smem[];
#   double* const w0 = (double*)smem;
#   const long long v2 = d0;
#   {
#     const long long lane = threadIdx.x;
#     if (lane < 256) {
#       double a0 = 0.0;
#       #pragma unroll 1
#       for (long long round = 0; round < d1; round++) {
#         #pragma unroll 32
#         for (long long iteration = 0; iteration < 8; iteration++) {
#           const bool v3 = (256 * round + 32 * iteration + (lane / 8)) < v2;
#           const float v5 = tv1_partial0[i1 * min(d0 - 1, 256 * round + 32 * iteration + (lane / 8)) + min(i1 - 1, 8 * block + (lane % 8))];
#           a0 = a0 + (double)(v3 ? v5 : 0.0f);
#         }
#       }
#       w0[lane] = a0;
#     }
#   }
#   __syncthreads();
#   {
#     const long long result = 8 * block + threadIdx.x;
#     if (result < min(i1, 8 * block + 8)) {
#       double a1 = 0.0;
#       #pragma unroll 32
#       for (long long team = 0; team < 32; team++) {
#         const double v12 = w0[-8 * block + result + 8 * team];
#         a1 = a1 + v12;
#       }
#       tv1[result] = (float)a1;
#     }
#   }
# }
