// Sum over rows in f32: blocks of 32 x 8 threads, grid.x over columns, grid.y over chunks of rows; each block folds its
// chunk through shared memory and adds the partial to `out`, which starts at zero.
extern "C" __global__ void column_sum(const float* __restrict__ x, float* __restrict__ out, int rows, int columns, int chunk) {
  __shared__ float partial[8][33];
  int column = blockIdx.x * 32 + threadIdx.x;
  int end = min(rows, (int)(blockIdx.y + 1) * chunk);
  float sum = 0.f;
  if (column < columns)
    for (int row = blockIdx.y * chunk + threadIdx.y; row < end; row += blockDim.y) sum += x[(long long)row * columns + column];
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    for (int i = 1; i < 8; i++) sum += partial[i][threadIdx.x];
    atomicAdd(out + column, sum);
  }
}
