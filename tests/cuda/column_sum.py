# test: target=sm_90
def column_sum(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[0]))

inputs = [torch.randn((4096, 512))]

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
# static __device__ inline long long floor_div(long long a, long long b) {
#   return a / b - (a % b != 0 && (a < 0) != (b < 0));
# }
# static __device__ inline long long floor_mod(long long a, long long b) {
#   const long long remainder = a % b;
#   return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
# }
#
# // seg0: reads n0 (f32); writes n1_partial0 (f32).
# // Blocks: floor_div(i1 + 1023, 1024) * floor_div(i0 + 3, 4). Threads of a block: 256.
# extern "C" __global__ void __launch_bounds__(256) seg0(
#     const float* __restrict__ n0,
#     float* __restrict__ n1_partial0,
#     long long i0,
#     long long i1) {
#   const long long block = blockIdx.x;
#   extern __shared__ __align__(16) unsigned char smem[];
#   float* const w0 = (float*)smem;
#   for (long long first = 1024 * floor_div(block, floor_div(i0 + 3, 4)) + 4 * threadIdx.x; first < min(1024 * floor_div(block, floor_div(i0 + 3, 4)) + 1024, i1); first += 1024) {
#     vec<float, 4> y0;
#     #pragma unroll
#     for (int j = 0; j < 4; j++) {
#       y0.at[j] = 0.0f;
#     }
#     *(vec<float, 4>*)(w0 + -1024 * floor_div(block, floor_div(i0 + 3, 4)) + first) = y0;
#   }
#   __syncthreads();
#   for (long long x0 = 4 * floor_mod(block, floor_div(i0 + 3, 4)); x0 < min(4 * floor_mod(block, floor_div(i0 + 3, 4)) + 4, i0); x0++) {
#     for (long long first = 1024 * floor_div(block, floor_div(i0 + 3, 4)) + 4 * threadIdx.x; first < min(1024 * floor_div(block, floor_div(i0 + 3, 4)) + 1024, i1); first += 1024) {
#       const auto v1 = load<4>(n0 + i1 * x0 + first);
#       #pragma unroll
#       for (int j = 0; j < 4; j++) {
#         const long long x1_1 = first + j;
#         const float v2 = w0[x1_1 - 1024 * floor_div(block, floor_div(i0 + 3, 4))];
#         w0[x1_1 - 1024 * floor_div(block, floor_div(i0 + 3, 4))] = v2 + v1.at[j];
#       }
#     }
#   }
#   __syncthreads();
#   for (long long first = 1024 * floor_div(block, floor_div(i0 + 3, 4)) + 4 * threadIdx.x; first < min(1024 * floor_div(block, floor_div(i0 + 3, 4)) + 1024, i1); first += 1024) {
#     const auto v4 = load<4>(w0 + -1024 * floor_div(block, floor_div(i0 + 3, 4)) + first);
#     vec<float, 4> y0;
#     #pragma unroll
#     for (int j = 0; j < 4; j++) {
#       y0.at[j] = v4.at[j];
#     }
#     store(n1_partial0 + i1 * floor_mod(block, floor_div(i0 + 3, 4)) + first, y0);
#   }
# }
#
# // seg0_combine0: reads n1_partial0 (f32); writes n1 (f32).
# // Blocks: floor_div(i1 + 255, 256). Threads of a block: 256.
# extern "C" __global__ void __launch_bounds__(256) seg0_combine0(
#     const float* __restrict__ n1_partial0,
#     float* __restrict__ n1,
#     long long i0,
#     long long i1) {
#   const long long block = blockIdx.x;
#   for (long long result = 256 * block + threadIdx.x; result < min(i1, 256 * block + 256); result += 256) {
#     double a0 = 0.0;
#     for (long long chunk = 0; chunk < floor_div(i0 + 3, 4); chunk++) {
#       a0 = a0 + (double)n1_partial0[i1 * chunk + result];
#     }
#     n1[result] = (float)a0;
#   }
# }
