# test: target=sm_90
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# // seg0
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
# #ifndef CUEMU
#   const unsigned* const words = (const unsigned*)&x;
#   if constexpr (sizeof(x) >= 16) {
#     #pragma unroll
#     for (int i = 0; i < (int)sizeof(x) / 4; i += 4)
#       asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" :: "l"((unsigned*)p + i), "r"(words[i]),
#                    "r"(words[i + 1]), "r"(words[i + 2]), "r"(words[i + 3]));
#     return;
#   }
# #endif
#   *(vec<T, N>*)p = x;
# }
# template <class T> __device__ inline T propagating_maximum(T a, T b) {
#   if (a != a) return a;
#   if (b != b) return b;
#   return a > b ? a : b > a ? b : signbit(a) ? b : a;
# }
# #ifndef CUEMU
# template <> __device__ inline float propagating_maximum(float a, float b) {
#   float y;
#   asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
#   return y;
# }
# #endif
# static __device__ inline float combine_max(float a, float b) {
#   return propagating_maximum(a, b);
# }
# // The max of all threads' states, for every thread: of each warp, then of the warps, by halves.
# static __device__ float block_max(float mine, unsigned call) {
#   __shared__ float slots[2][2];
#   for (unsigned stride = 16; stride > 0; stride /= 2)
#     mine = combine_max(mine, __shfl_xor_sync(0xffffffffu, mine, stride));
#   if (threadIdx.x % 32 == 0) slots[call % 2][threadIdx.x / 32] = mine;
#   __syncthreads();
#   mine = slots[call % 2][threadIdx.x % 2];
#   for (unsigned stride = 1; stride > 0; stride /= 2)
#     mine = combine_max(mine, __shfl_xor_sync(0xffffffffu, mine, stride));
#   return mine;
# }
# static __device__ inline float combine_sum(float a, float b) {
#   return a + b;
# }
# // The sum of all threads' states, for every thread: of each warp, then of the warps, by halves.
# static __device__ float block_sum(float mine, unsigned call) {
#   __shared__ float slots[2][2];
#   for (unsigned stride = 16; stride > 0; stride /= 2)
#     mine = combine_sum(mine, __shfl_xor_sync(0xffffffffu, mine, stride));
#   if (threadIdx.x % 32 == 0) slots[call % 2][threadIdx.x / 32] = mine;
#   __syncthreads();
#   mine = slots[call % 2][threadIdx.x % 2];
#   for (unsigned stride = 1; stride > 0; stride /= 2)
#     mine = combine_sum(mine, __shfl_xor_sync(0xffffffffu, mine, stride));
#   return mine;
# }
#
# // seg0: reads n0 (f32); writes n7 (f32).
# // Blocks: i0. Threads of a block: 64.
# // Assumes i1 % 64 == 0, i1 <= 1024, n0 aligned to 16 bytes, n7 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(64) seg0(
#     const float* __restrict__ n0,
#     float* __restrict__ n7,
#     long long i0,
#     long long i1) {
#   const long long block = blockIdx.x;
#   unsigned calls = 0;
#   extern __shared__ __align__(16) unsigned char smem[];
#   float* const w0 = (float*)smem;
#   {
#     const long long x0 = block;
#     float a0 = __uint_as_float(0xff800000u);
#     {
#       const int mine = 4 * threadIdx.x, end = i1;
#       vec<float, 4> v1[4];
#       if (mine + 768 < end) {
#         #pragma unroll
#         for (int k = 0; k < 4; k++) {
#           const int first = mine + 256 * k;
#           v1[k] = load<4>(n0 + x0 * i1 + first);
#         }
#       } else {
#         #pragma unroll
#         for (int k = 0; k < 4; k++) {
#           const int first = mine + 256 * k;
#           if (first < end) {
#             v1[k] = load<4>(n0 + x0 * i1 + first);
#           }
#         }
#       }
#       #pragma unroll
#       for (int k = 0; k < 4; k++) {
#         const int first = mine + 256 * k;
#         if (first < end) {
#           #pragma unroll
#           for (int j = 0; j < 4; j++) {
#             a0 = propagating_maximum(a0, v1[k].at[j]);
#           }
#         }
#       }
#     }
#     const float v4 = block_max(a0, calls++);
#     double a1 = 0.0;
#     __syncthreads();
#     float a2 = 0.0f;
#     {
#       const int mine = 4 * threadIdx.x, end = i1;
#       vec<float, 4> v7[4];
#       if (mine + 768 < end) {
#         #pragma unroll
#         for (int k = 0; k < 4; k++) {
#           const int first = mine + 256 * k;
#           v7[k] = load<4>(n0 + x0 * i1 + first);
#         }
#       } else {
#         #pragma unroll
#         for (int k = 0; k < 4; k++) {
#           const int first = mine + 256 * k;
#           if (first < end) {
#             v7[k] = load<4>(n0 + x0 * i1 + first);
#           }
#         }
#       }
#       #pragma unroll
#       for (int k = 0; k < 4; k++) {
#         const int first = mine + 256 * k;
#         if (first < end) {
#           vec<float, 4> y0;
#           #pragma unroll
#           for (int j = 0; j < 4; j++) {
#             const float v9 = expf(v7[k].at[j] - v4);
#             a2 = a2 + v9;
#             y0.at[j] = v9;
#           }
#           *(vec<float, 4>*)(w0 + first) = y0;
#         }
#       }
#     }
#     const float v12 = block_sum(a2, calls++);
#     a1 = (double)v12;
#     __syncthreads();
#     const float v15 = (float)a1;
#     {
#       const int mine = 4 * threadIdx.x, end = i1;
#       vec<float, 4> v16[4];
#       if (mine + 768 < end) {
#         #pragma unroll
#         for (int k = 0; k < 4; k++) {
#           const int first = mine + 256 * k;
#           v16[k] = load<4>(w0 + first);
#         }
#       } else {
#         #pragma unroll
#         for (int k = 0; k < 4; k++) {
#           const int first = mine + 256 * k;
#           if (first < end) {
#             v16[k] = load<4>(w0 + first);
#           }
#         }
#       }
#       #pragma unroll
#       for (int k = 0; k < 4; k++) {
#         const int first = mine + 256 * k;
#         if (first < end) {
#           vec<float, 4> y0;
#           #pragma unroll
#           for (int j = 0; j < 4; j++) {
#             y0.at[j] = v16[k].at[j] / v15;
#           }
#           store(n7 + x0 * i1 + first, y0);
#         }
#       }
#     }
#   }
# }
