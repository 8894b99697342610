# test: target=sm_80
def scale(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.mul(x, 2.0))

inputs = [torch.randn((1000,))]

# ---- expect
# // seg0
# //   tv1 = mul (x, 2.0) : f32[i0]
# // 8*i0 bytes are read and written.
# // schedule lanes 256 warps 32; block x0 by 4096; inner x0; lane x0; width 4
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
#   if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
#   else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
# }
#
# // seg0: reads x (f32); writes tv1 (f32).
# // Blocks: floor_div(i0 + 4095, 4096). Threads of a block: 256.
# // Assumes i0 % 8 == 0, x aligned to 16 bytes, tv1 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(256) seg0(
#     const float* __restrict__ x, float* __restrict__ tv1, long long i0) {
#   const long long block = blockIdx.x;
#   {
#     const int mine = 4 * threadIdx.x, end = -4096 * block + min(i0, 4096 * block + 4096);
#     vec<float, 4> v0[4];
#     if (end > 0) {
#       #pragma unroll
#       for (int k = 0, first = mine; k < 4; k++, first += 1024)
#         v0[k] = load<4>(x + 4096 * block + min(first, end - 4));
#     }
#     #pragma unroll
#     for (int k = 0, first = mine; k < 4; k++, first += 1024)
#       if (first < end) {
#         vec<float, 4> y0;
#         #pragma unroll
#         for (int j = 0; j < 4; j++) y0.at[j] = v0[k].at[j] * 2.0f;
#         store(tv1 + 4096 * block + first, y0);
#       }
#   }
# }
