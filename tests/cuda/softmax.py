# test: target=sm_90
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.softmax(x, dim=1))

inputs = [torch.randn((256, 1024))]

# ---- expect
# // seg0
# // seg0: reads n0 (f32); writes n7 (f32).
# // Blocks: i0. Threads of a block: 256.
#
# static __device__ inline long long floor_div(long long a, long long b) {
#   return a / b - (a % b != 0 && (a < 0) != (b < 0));
# }
# template <class T> __device__ inline T propagating_maximum(T a, T b) {
#   if (a != a) return a;
#   if (b != b) return b;
#   return a > b ? a : b > a ? b : signbit(a) ? b : a;
# }
# static __device__ inline float combine_max(float a, float b) {
#   return propagating_maximum(a, b);
# }
# // The max of all threads' states, for every thread, by a tree of strides 128, …, 1.
# static __device__ float block_max(float mine) {
#   __shared__ float slots[256], total;
#   slots[threadIdx.x] = mine;
#   for (unsigned stride = 128; stride >= 32; stride /= 2) {
#     __syncthreads();
#     if (threadIdx.x < stride) slots[threadIdx.x] = mine = combine_max(mine, slots[threadIdx.x + stride]);
#   }
#   if (threadIdx.x < 32) {
#     for (unsigned stride = 16; stride > 0; stride /= 2)
#       mine = combine_max(mine, __shfl_down_sync(0xffffffffu, mine, stride));
#     if (threadIdx.x == 0) total = mine;
#   }
#   __syncthreads();
#   return total;
# }
# static __device__ inline double combine_sum(double a, double b) {
#   return a + b;
# }
# // The sum of all threads' states, for every thread, by a tree of strides 128, …, 1.
# static __device__ double block_sum(double mine) {
#   __shared__ double slots[256], total;
#   slots[threadIdx.x] = mine;
#   for (unsigned stride = 128; stride >= 32; stride /= 2) {
#     __syncthreads();
#     if (threadIdx.x < stride) slots[threadIdx.x] = mine = combine_sum(mine, slots[threadIdx.x + stride]);
#   }
#   if (threadIdx.x < 32) {
#     for (unsigned stride = 16; stride > 0; stride /= 2)
#       mine = combine_sum(mine, __shfl_down_sync(0xffffffffu, mine, stride));
#     if (threadIdx.x == 0) total = mine;
#   }
#   __syncthreads();
#   return total;
# }
#
# extern "C" __global__ void __launch_bounds__(256) seg0(
#     const float* __restrict__ n0,
#     float* __restrict__ n7,
#     long long i0,
#     long long i1) {
#   const long long block = blockIdx.x;
#   extern __shared__ __align__(16) unsigned char smem[];
#   float* const w0 = (float*)smem;
#   for (long long x0 = block; x0 < block + 1; x0++) {
#     float a0 = __uint_as_float(0xff800000u);
#     for (long long x1 = threadIdx.x; x1 < i1; x1 += 256) {
#       a0 = propagating_maximum(a0, n0[x0 * i1 + x1]);
#     }
#     const float v4 = block_max(a0);
#     double a1 = 0.0;
#     __syncthreads();
#     for (long long x1_block = 0; x1_block < floor_div(i1 + 4095, 4096); x1_block++) {
#       float a2 = 0.0f;
#       for (long long x1_1 = 4096 * x1_block + threadIdx.x; x1_1 < 4096 * x1_block + min(4096ll, i1 - 4096 * x1_block); x1_1 += 256) {
#         const float v9 = expf(n0[x0 * i1 + x1_1] - v4);
#         a2 = a2 + v9;
#         w0[x1_1] = v9;
#       }
#       for (long long lane = threadIdx.x; lane < 256; lane += 256) {
#         a1 = a1 + (double)a2;
#       }
#     }
#     __syncthreads();
#     const double v16 = block_sum(a1);
#     const float v17 = (float)v16;
#     for (long long x1_2 = threadIdx.x; x1_2 < i1; x1_2 += 256) {
#       const float v18 = w0[x1_2];
#       n7[x0 * i1 + x1_2] = v18 / v17;
#     }
#   }
# }
