# test: target=sm_90
# A loop that never runs, around one whose lanes take neighbours.
def scale(fd):
    x = fd.define_tensor(shape=[2, 0, -1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.broadcast(y, is_broadcast_dim=[True, True, False])
    fd.add_output(fd.ops.sum(fd.ops.mul(x, y), dims=[1, 2]))

inputs = [torch.randn((2, 0, 16416)), torch.randn((16416,))]

# ---- expect
# // seg0
# //   tv2 = broadcast [new, new, old] (y) : f32[1, 1, i1]
# //   tv3 = mul (x, tv2) : f32[2, 0, i0]
# //   tv4 = fold sum [1, 2] (tv3) : f32[2]
# // 8*i0 + 8 bytes are read and written.
# // schedule lanes 512 warps 32; inner x1; inner x2; inner x0; lane x0; width 4
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
# static __device__ inline float combine_sum(float a, float b) { return a + b; }
#
# // seg0: reads y (f32); writes tv2 (f32), tv4 (f32).
# // Blocks: 1. Threads of a block: 512.
# // Assumes i0 % 8 == 0, y aligned to 16 bytes, tv2 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(512) seg0(
#     const float* __restrict__ y, float* __restrict__ tv2, float* __restrict__ tv4, long long i0) {
#   unsigned calls = 0;
#   extern __shared__ __align__(16) unsigned char smem[];
#   float* const w0 = (float*)smem;
#   {
#     const long long x1 = threadIdx.x;
#     if (x1 < 2) w0[x1] = 0.0f;
#   }
#   __syncthreads();
#   #pragma unroll 4
#   for (long long first = 4 * threadIdx.x; first < i0; first += 2048) {
#     const auto v1 = load<4>(y + first);
#     vec<float, 4> y0;
#     #pragma unroll
#     for (int j = 0; j < 4; j++) y0.at[j] = v1.at[j];
#     store(tv2 + first, y0);
#   }
#   for (long long x1_1 = 0; x1_1 < 2; x1_1++)
#     for (long long x2 = 0; x2 < 0; x2++) {
#       float a0 = 0.0f;
#       #pragma unroll 4
#       for (long long first = 4 * threadIdx.x; first < i0; first += 2048) {
#         const auto v2 = load<4>(y + first);
#         #pragma unroll
#         for (int j = 0; j < 4; j++) a0 = fmaf(0.0f, v2.at[j], a0);
#       }
#       const float v6 = over_block<16>(a0, combine_sum, calls++);
#       const float v7 = w0[x1_1];
#       __syncthreads();
#       if (threadIdx.x == 0) w0[x1_1] = v7 + v6;
#       __syncthreads();
#     }
#   __syncthreads();
#   {
#     const long long x1_2 = threadIdx.x;
#     if (x1_2 < 2) {
#       const float v9 = w0[x1_2];
#       tv4[x1_2] = v9;
#     }
#   }
# }
