# test: target=sm_90
# Two like segments are members of one launch: the kernel is a function of one member's block.
def members(fd):
    p = fd.define_tensor(shape=[1000000], contiguity=True, dtype=DataType.Float)
    dp = fd.define_tensor(shape=[1000000], contiguity=True, dtype=DataType.Float)
    q = fd.define_tensor(shape=[3000], contiguity=True, dtype=DataType.Float)
    dq = fd.define_tensor(shape=[3000], contiguity=True, dtype=DataType.Float)
    fd.add_output(p - 0.1 * dp, p)
    fd.add_output(q - 0.1 * dq, q)

# ---- expect
# // seg0
# //   tv4 = mul (0.1, dp) : f32[1000000]
# //   tv5 = sub (p, tv4) : f32[1000000]
# // 12000000 bytes are read and written.
# // schedule lanes 256 warps 32; block x0 by 2048; inner x0; lane x0; width 4
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
#   if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
#   else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
# }
#
# // seg0: reads p (f32), dp (f32); writes tv5 (f32).
# // Blocks: 489. Threads of a block: 256.
# // Assumes p aligned to 16 bytes, dp aligned to 16 bytes, tv5 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(256) seg0(const float* p, const float* __restrict__ dp, float* tv5) {
#   const long long block = blockIdx.x;
#   {
#     const int mine = 4 * threadIdx.x, end = -2048 * block + min(1000000ll, 2048 * block + 2048);
#     vec<float, 4> v0[2], v2[2];
#     if (end > 0) {
#       #pragma unroll
#       for (int k = 0, first = mine; k < 2; k++, first += 1024) {
#         v0[k] = load<4>(p + 2048 * block + min(first, end - 4));
#         v2[k] = load<4>(dp + 2048 * block + min(first, end - 4));
#       }
#     }
#     #pragma unroll
#     for (int k = 0, first = mine; k < 2; k++, first += 1024)
#       if (first < end) {
#         vec<float, 4> y0;
#         #pragma unroll
#         for (int j = 0; j < 4; j++) y0.at[j] = v0[k].at[j] - (0.1f * v2[k].at[j]);
#         store(tv5 + 2048 * block + first, y0);
#       }
#   }
# }
#
# // seg1
# //   tv6 = mul (0.1, dq) : f32[3000]
# //   tv7 = sub (q, tv6) : f32[3000]
# // 36000 bytes are read and written.
# // schedule lanes 256 warps 32; block x0 by 2048; inner x0; lane x0; width 4
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
#   if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
#   else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
# }
#
# // seg1: reads q (f32), dq (f32); writes tv7 (f32).
# // Blocks: 2. Threads of a block: 256.
# // Assumes q aligned to 16 bytes, dq aligned to 16 bytes, tv7 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(256) seg1(const float* q, const float* __restrict__ dq, float* tv7) {
#   const long long block = blockIdx.x;
#   {
#     const int mine = 4 * threadIdx.x, end = -2048 * block + min(3000ll, 2048 * block + 2048);
#     vec<float, 4> v0[2], v2[2];
#     if (end > 0) {
#       #pragma unroll
#       for (int k = 0, first = mine; k < 2; k++, first += 1024) {
#         v0[k] = load<4>(q + 2048 * block + min(first, end - 4));
#         v2[k] = load<4>(dq + 2048 * block + min(first, end - 4));
#       }
#     }
#     #pragma unroll
#     for (int k = 0, first = mine; k < 2; k++, first += 1024)
#       if (first < end) {
#         vec<float, 4> y0;
#         #pragma unroll
#         for (int j = 0; j < 4; j++) y0.at[j] = v0[k].at[j] - (0.1f * v2[k].at[j]);
#         store(tv7 + 2048 * block + first, y0);
#       }
#   }
# }
