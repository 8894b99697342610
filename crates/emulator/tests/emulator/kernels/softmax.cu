// Softmax of each row in f32: a block takes rows in turn, keeps the row in dynamic shared memory (4 * columns
// bytes), and folds with shuffles and one shared slot a warp.
static __device__ __forceinline__ float combine(float a, float b, bool largest) { return largest ? fmaxf(a, b) : a + b; }
static __device__ __forceinline__ float fold_warp(float value, bool largest) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes >>= 1) value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes), largest);
  return value;
}
static __device__ __forceinline__ float fold_block(float value, float* slots, bool largest) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = fold_warp(value, largest);
  __syncthreads();  // before: the slots of the previous fold are still read
  if (lane == 0) slots[warp] = value;
  __syncthreads();  // after: every warp has filled its slot
  float neutral = largest ? __int_as_float(0xff800000) : 0.f;
  return fold_warp(lane < blockDim.x / 32 ? slots[lane] : neutral, largest);
}
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ out, int rows, int columns) {
  extern __shared__ float smem[];
  __shared__ float slots[32];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* in = x + (long long)row * columns;
    float largest = __int_as_float(0xff800000);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, smem[i] = in[i]);
    largest = fold_block(largest, slots, true);
    float total = 0.f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) total += smem[i] = expf(smem[i] - largest);
    float scale = 1.f / fold_block(total, slots, false);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[(long long)row * columns + i] = smem[i] * scale;
  }
}
