# test: target=sm_90
# Rows that a cluster of four blocks has in registers.
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.softmax(fd.ops.cast(x, dtype=DataType.Float), dim=1)
    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))

inputs = [torch.randn((256, 65536), dtype=torch.bfloat16)]

# ---- expect
# // seg0
# //   tv1 = cast f32 (x) : f32[i0, i1]
# //   n2 = fold max [1] (tv1) : f32[i0]
# //   n3 = broadcast [old, new] (n2) : f32[i0, 1]
# //   n4 = sub (tv1, n3) : f32[i0, i1]
# //   n11 = mul (n4, 1.442695) : f32[i0, i1]
# //   n5 = exp2_bf16_nonpositive (n11) : f32[i0, i1]
# //   n6 = fold sum [1] (n5) : f32[i0]
# //   n7 = broadcast [old, new] (n6) : f32[i0, 1]
# //   n15 = reciprocal_half (n7) : f32[i0, 1]
# //   y = mul (n5, n15) : f32[i0, i1]
# //   tv3 = cast bf16 (y) : bf16[i0, i1]
# // 4*i0*i1 bytes are read and written.
# // schedule lanes 2048 warps 32; block x0 by 1; inner x1; lane x1; width 8; persist tv1 narrow; persist n5 narrow;
# // private; cluster 4
# #ifndef CUEMU
# #define PTX(...) asm(__VA_ARGS__)
# #endif
# typedef unsigned short bf16;  // by its bits
# // Neighbours that are loaded and stored together, 16 bytes at a time.
# template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
# template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
# template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
#   if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
#   else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
# }
# template <class T> static __device__ inline void hold(T& x) {
#   for (int i = 0; i < (int)sizeof(x) / 4; i++) PTX("" : "+r"(((unsigned*)&x)[i]));
# }
# static __device__ inline float bf16_to_f32(bf16 x) {
#   float y = __uint_as_float((unsigned)x << 16);
#   PTX("mov.b32 %0, {%1, %2};" : "=f"(y) : "h"((bf16)0), "h"(x));
#   return y;
# }
# // To nearest, ties to even; every NaN becomes one quiet NaN.
# static __device__ inline bf16 f32_to_bf16(float x) {
#   const unsigned bits = __float_as_uint(x);
#   bf16 y = x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
#   PTX("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
#   return y;
# }
# #if __CUDA_ARCH__ >= 900
# // For calls with even and with odd numbers: whether a block has been given what others store for it.
# static __shared__ unsigned long long arrivals[2];
# static __device__ inline unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
# // Others may write to the memory of a block that has begun: each says so, and waits for all before it writes.
# static __device__ inline unsigned begin_cluster() {
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < 2; i++)
#       asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(address(&arrivals[i])) : "memory");
#     asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#   }
#   asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#   return 0;
# }
# static __device__ inline void await_cluster() {
#   asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
# }
# // Stores to the place in another block that a slot has in this one.
# template <class T> static __device__ inline void store_in(unsigned block, T* slot, const T& x, unsigned call) {
#   unsigned to, count;
#   asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address(slot)), "r"(block));
#   asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(count) : "r"(address(&arrivals[call % 2])), "r"(block));
#   for (int i = 0; i < (int)sizeof(T) / 4; i++)
#     asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
#                  :: "r"(to + 4 * i), "r"(((const unsigned*)&x)[i]), "r"(count) : "memory");
# }
# // Waits until this many bytes have arrived.
# static __device__ inline void await_stores(unsigned bytes, unsigned call) {
#   const unsigned count = address(&arrivals[call % 2]);
#   if (threadIdx.x == 0)
#     asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(count), "r"(bytes) : "memory");
#   for (unsigned done = 0; !done;)
#     asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
#                  : "=r"(done) : "r"(count), "r"(call / 2 % 2) : "memory");
# }
# #else  // Older GPUs have no clusters; the emulator runs the blocks of one as one block.
# #undef __cluster_dims__
# #define __cluster_dims__(...)
# static __device__ inline unsigned begin_cluster() { return 0; }
# static __device__ inline void await_cluster() {}
# template <class T> static __device__ inline void store_in(unsigned, T* slot, const T& x, unsigned) { *slot = x; }
# static __device__ inline void await_stores(unsigned, unsigned) { __syncthreads(); }
# #endif
# template <class T> static __device__ inline T partner(T x, unsigned stride) { return (T)__shfl_xor_sync(~0u, x, stride); }
# // What the states of all threads of a cluster combine to, for every thread: of each warp, then of the warps, by halves.
# template <int BLOCKS, int WARPS, bool ORDERED, class T>
# static __device__ inline T over_cluster(T mine, T (*combine)(T, T), unsigned call) {
#   constexpr int SLOTS = BLOCKS * WARPS, LANES = SLOTS < 32 ? SLOTS : 32;
#   struct Slot { alignas(4) alignas(T) T state; };
#   __shared__ Slot slots[2][SLOTS];
#   const unsigned lane = threadIdx.x % 32, warp = blockIdx.x % BLOCKS * WARPS + threadIdx.x / 32;
#   const auto joined = [=](T mine, unsigned stride) {
#     const T other = partner(mine, stride);
#     return ORDERED && (lane & stride) ? combine(other, mine) : combine(mine, other);
#   };
#   for (unsigned stride = 16; stride > 0; stride /= 2) mine = joined(mine, stride);
#   if (call == 0) await_cluster();
#   if (lane < BLOCKS) store_in(lane, &slots[call % 2][warp], Slot{mine}, call);
#   await_stores(sizeof(Slot) * SLOTS, call);
#   T parts[SLOTS / LANES];
#   for (int i = 0; i < SLOTS / LANES; i++) parts[i] = slots[call % 2][lane % LANES + i * LANES].state;
#   for (int half = SLOTS / LANES / 2; half > 0; half /= 2)
#     for (int i = 0; i < half; i++) parts[i] = combine(parts[i], parts[i + half]);
#   mine = parts[0];
#   for (unsigned stride = LANES / 2; stride > 0; stride /= 2) mine = joined(mine, stride);
#   return mine;
# }
# template <class T> static __device__ inline T propagating_maximum(T a, T b) {
#   T y = a != a ? a : b != b ? b : a > b ? a : b > a ? b : signbit(a) ? b : a;
#   if constexpr (sizeof(T) == 4) PTX("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
#   return y;
# }
# static __device__ inline float exp2_approximate(float x) {
#   float y = exp2f(x * 0.5f);
#   PTX("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 0.5f));
#   return y * y;
# }
# static __device__ inline float reciprocal_positive(float x) {
#   float y = 1.0f / x;
#   PTX("{ .reg .f32 r; rsqrt.approx.ftz.f32 r, %1; mul.rn.f32 %0, r, r; }" : "=f"(y) : "f"(x));
#   return y;
# }
# static __device__ inline float combine_max(float a, float b) { return propagating_maximum(a, b); }
# static __device__ inline float combine_sum(float a, float b) { return a + b; }
#
# // seg0: reads x (bf16); writes tv3 (bf16).
# // Blocks: 4 * i0. Threads of a block: 512. Blocks of a cluster: 4.
# // Assumes i1 % 64 == 0, i1 <= 65536, x aligned to 16 bytes, tv3 aligned to 16 bytes.
# extern "C" __global__ void __launch_bounds__(512) __cluster_dims__(4) seg0(
#     const bf16* __restrict__ x, bf16* __restrict__ tv3, long long i0, long long i1) {
#   const long long x0 = blockIdx.x / 4;
#   unsigned cluster_calls = begin_cluster();
#   const int mine = 8 * (blockIdx.x % 4 * 512 + threadIdx.x), end = i1;
#   vec<bf16, 8> w0[4];
#   vec<float, 8> w1[4];
#   float a0 = __uint_as_float(0xff800000u);
#   const bf16* const x_row = x + x0 * i1;
#   if (end > 0) {
#     #pragma unroll
#     for (int k = 0, first = mine; k < 4; k++, first += 16384)
#       w0[k] = load<8>(x_row + min(first, end - 8));
#   }
#   #pragma unroll
#   for (int k = 0, first = mine; k < 4; k++, first += 16384)
#     if (first < end) {
#       #pragma unroll
#       for (int j = 0; j < 8; j++) {
#         const float v4 = propagating_maximum(a0, bf16_to_f32(w0[k].at[j]));
#         a0 = v4;
#       }
#     }
#   const float v5 = over_cluster<4, 16, false>(a0, combine_max, cluster_calls++);
#   float a2 = 0.0f;
#   #pragma unroll
#   for (int k = 0, first = mine; k < 4; k++, first += 16384)
#     if (first < end) {
#       hold(w0[k]);
#       #pragma unroll
#       for (int j = 0; j < 8; j++) {
#         const float v13 = exp2_approximate((bf16_to_f32(w0[k].at[j]) - v5) * 1.442695f);
#         a2 = a2 + v13;
#         w1[k].at[j] = v13;
#       }
#     }
#   const float v16 = over_cluster<4, 16, false>(a2, combine_sum, cluster_calls++);
#   const float v21 = reciprocal_positive(v16);
#   bf16* const tv3_row = tv3 + x0 * i1;
#   #pragma unroll
#   for (int k = 0, first = mine; k < 4; k++, first += 16384)
#     if (first < end) {
#       vec<bf16, 8> y0;
#       #pragma unroll
#       for (int j = 0; j < 8; j++) y0.at[j] = f32_to_bf16(w1[k].at[j] * v21);
#       store(tv3_row + first, y0);
#     }
# }
