# test: target=sm_80
# The source is recomputed at the index.
def take_along_axis(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int32)
    fd.add_output(fd.ops.take_along_axis(fd.ops.mul(x, 2.0), index, dim=1))

inputs = [torch.randn((500, 300)), torch.randint(0, 300, (500, 20), dtype=torch.int32)]

# ---- expect
# // seg0
# static __device__ inline long long floor_div(long long a, long long b) {
#   return a / b - (a % b != 0 && (a < 0) != (b < 0));
# }
# static __device__ inline long long floor_mod(long long a, long long b) {
#   const long long remainder = a % b;
#   return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
# }
# template <class T> __device__ inline T wrapping_difference(T a, T b) {
#   return T((unsigned long long)a - (unsigned long long)b);
# }
#
# // seg0: reads n1 (i32), n0 (f32); writes n4 (f32); reports in faults (i64).
# // Blocks: floor_div(i0 + 51, 52) * floor_div(i3 + 127, 128). Threads of a block: 32.
# extern "C" __global__ void __launch_bounds__(32) seg0(
#     const int* __restrict__ n1,
#     long long* __restrict__ faults,
#     const float* __restrict__ n0,
#     float* __restrict__ n4,
#     long long i3,
#     long long i0,
#     long long i1) {
#   const long long block = blockIdx.x;
#   const long long v3 = i1;
#   #pragma unroll 4
#   for (long long x0 = 52 * floor_div(block, floor_div(i3 + 127, 128)), x0_stop = min(52 * floor_div(block, floor_div(i3 + 127, 128)) + 52, i0); x0 < x0_stop; x0++) {
#     for (long long x2 = 128 * floor_mod(block, floor_div(i3 + 127, 128)) + threadIdx.x; x2 < min(128 * floor_mod(block, floor_div(i3 + 127, 128)) + 128, i3); x2 += 32) {
#       const long long v1 = (long long)n1[i3 * x0 + x2];
#       const bool v4 = v1 >= 0ll;
#       const bool v6 = v4 && (v1 < v3);
#       if (!v6) atomicMin(&faults[0], wrapping_difference(v1, (long long)v4));
#       const long long n4_at = v6 ? v1 : 0ll;
#       n4[i3 * x0 + x2] = (v6 ? n0[x0 * i1 + n4_at] : 0.0f) * 2.0f;
#     }
#   }
# }
