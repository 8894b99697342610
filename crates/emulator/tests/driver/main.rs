//! The stand-in for libcuda, libnvrtc and libcublasLt, opened as a library and called as their users call them.

mod document;
mod functions;
mod graphs;
mod kernels;
mod long_runs;
mod machine;
mod matmul;
mod memory;
mod streams;
mod threads;

/// `out[i] = in[i] + by` for `n` numbers, and twice a number in place.
const KERNELS: &str = "
extern \"C\" __global__ void __launch_bounds__(32) add(const int* in, int* out, long long by, long long n) {
  long long i = blockIdx.x * 32LL + threadIdx.x;
  if (i < n) out[i] = in[i] + (int)by;
}
extern \"C\" __global__ void twice(int* x, long long n) {
  __shared__ int slots[64];
  extern __shared__ int smem[];
  long long i = blockIdx.x * 32LL + threadIdx.x;
  slots[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) x[i] = 2 * slots[threadIdx.x];
}
";
