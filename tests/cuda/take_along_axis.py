# test: target=sm_80
# The source is recomputed at the index.
def take_along_axis(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.take_along_axis(fd.ops.mul(x, 2.0), index, dim=1))

inputs = [torch.randn((500, 300)), torch.randint(0, 300, (500, 20), dtype=torch.int32)]

# ---- expect
# // seg0
# //   tv2 = mul (x, 2.0) : f32[i0, i1]
# //   tv3 = gather 1 (tv2, index) : f32[i0, i3]
# // 8*i0*i3 + min(4*i0*i3, 4*i0*i1) bytes are read and written.
# // schedule lanes 32; block x0 by 52; block x2 by 128; inner x2; lane x2
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
# template <class T> __device__ inline T wrapping_difference(T a, T b) {
#   return T((unsigned long long)a - (unsigned long long)b);
# }
#
# // seg0: reads index (i32), x (f32); writes tv3 (f32); reports in faults (i64).
# // Blocks: floor_div(i0 + 51, 52) * floor_div(i3 + 127, 128). Threads of a block: 32.
# extern "C" __global__ void __launch_bounds__(32) seg0(
#     const int* __restrict__ index, long long* __restrict__ faults, const float* __restrict__ x,
#     float* __restrict__ tv3, long long i3, long long i0, long long i1) {
#   const long long block = blockIdx.x;
#   const long long d0 = floor_div(i3 + 127, 128);
#   const long long d1 = small_floor_div(block, d0);
#   const long long d2 = small_floor_mod(block, d0);
#   #pragma unroll 4
#   for (long long x0 = 52 * d1, x0_stop = min(52 * d1 + 52, i0); x0 < x0_stop; x0++) {
#     const int* const index_row = index + i3 * x0;
#     const float* const x_row = x + x0 * i1;
#     float* const tv3_row = tv3 + i3 * x0;
#     for (long long x2 = 128 * d2 + threadIdx.x; x2 < min(128 * d2 + 128, i3); x2 += 32) {
#       const long long v1 = (long long)index_row[x2];
#       const bool v4 = v1 >= 0ll;
#       const bool v6 = v4 && (v1 < i1);
#       if (!v6) atomicMin(&faults[0], wrapping_difference(v1, (long long)v4));
#       const long long n4_at = v6 ? v1 : 0ll;
#       tv3_row[x2] = (v6 ? x_row[n4_at] : 0.0f) * 2.0f;
#     }
#   }
# }
