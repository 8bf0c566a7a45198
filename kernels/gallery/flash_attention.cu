// O = softmax(Q K^T * scale) V, without the matrix of scores in memory: wgmma multiplies, tensor maps bring the tiles.
//
// Q, K, V and O are (heads, length, 64), f16. A block is one warpgroup and owns 64 queries of a head. It walks over the
// keys, 64 at a time. Of each query it keeps three things: the greatest score so far, the sum of exponentials relative
// to it, and the output relative to it. A greater score later scales the last two down: the online softmax (Milakov and
// Gimelshein, arXiv 1805.02867), as FlashAttention uses it (Dao and others, arXiv 2205.14135). Scores and probabilities
// stay in registers. Two stages of K and V: while one is multiplied, the copy unit fills the other.
//
// Memory: Q is read once, O written once, K and V read once per block. Tiles lie in shared memory with rows of 128 bytes
// in the swizzle of 128 bytes, as wgmma wants them. Launch: grid (ceil(length / 64), heads), block 128, 40 KiB of dynamic
// shared memory. Maps: boxes of (1, 64, 64), swizzle 128B. Any length: what is outside is zero, and is not stored. The
// scale is positive.
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int kTile = 64, kThreads = 128, kTileBytes = kTile * kTile * sizeof(__half);
constexpr float kLog2E = 1.44269504f;
using Accumulator = float[kTile / 2];  // a thread's part of 64 x 64: rows r and r + 8, two neighbours of each 8 columns

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// ---- The copy unit ----

__device__ void load_tile(void* tile, const CUtensorMap& map, int row, int head, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
      ::"r"(shared_address(tile)), "l"(&map), "n"(0), "r"(row), "r"(head), "r"(barrier) : "memory");
}

__device__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ void wait(unsigned barrier, unsigned phase) {
  for (unsigned done = 0; !done;)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier), "r"(phase) : "memory");
}

// ---- The tensor cores ----

// A tile for wgmma: its address in units of 16 bytes, 1024 bytes between groups of 8 rows, the swizzle of 128 bytes.
__device__ unsigned long long descriptor(const void* tile) {
  return (shared_address(tile) >> 4) | 1ull << 16 | 1024ull >> 4 << 32 | 1ull << 62;
}

#define REGISTERS_8(D, I)                                                                                     \
  "+f"(D[I]), "+f"(D[I + 1]), "+f"(D[I + 2]), "+f"(D[I + 3]), "+f"(D[I + 4]), "+f"(D[I + 5]), "+f"(D[I + 6]), \
      "+f"(D[I + 7])
#define REGISTERS_32(D) REGISTERS_8(D, 0), REGISTERS_8(D, 8), REGISTERS_8(D, 16), REGISTERS_8(D, 24)
#define NAMES_32                                                                                       \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"

// scores (+)= 16 columns of Q times 16 columns of K, transposed. Both tiles have neighbours along k.
__device__ void multiply_scores(Accumulator& scores, unsigned long long q, unsigned long long k, int adds) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " NAMES_32
               ", %32, %33, p, 1, 1, 0, 0; }" : REGISTERS_32(scores) : "l"(q), "l"(k), "r"(adds));
}

// output += 64 x 16 probabilities times 16 rows of V. V has neighbours across k: the last 1 says so.
__device__ void multiply_values(Accumulator& output, const unsigned (&p)[4], unsigned long long v) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " NAMES_32 ", {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
               : REGISTERS_32(output) : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

__device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void finish_products() {
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// ---- Rows: the four lanes of a quad hold two rows together ----

__device__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

__device__ float quad_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

__device__ unsigned packed(float x, float y) {
  const __half2 both = __floats2half2_rn(x, y);
  return reinterpret_cast<const unsigned&>(both);
}

extern "C" __global__ void __launch_bounds__(kThreads)
flash_attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
                const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
                int length, float scale, int causal) {
  extern __shared__ __align__(1024) unsigned char tiles[];  // Q, later O; K, V of stage 0; K, V of stage 1
  __shared__ unsigned long long arrived[2];
  unsigned char* q = tiles;
  const auto k = [&](int stage) { return tiles + (1 + 2 * stage) * kTileBytes; };
  const auto v = [&](int stage) { return tiles + (2 + 2 * stage) * kTileBytes; };
  const auto barrier = [&](int stage) { return shared_address(arrived) + stage * 8; };

  const int first_query = blockIdx.x * kTile, head = blockIdx.y, lane = threadIdx.x % 32;
  const int row = threadIdx.x / 32 * 16 + lane / 4, column = lane % 4 * 2;  // the first of the thread's elements
  const int keys = causal ? min(length, first_query + kTile) : length, steps = (keys + kTile - 1) / kTile;

  const auto load_step = [&](int step) {
    const int stage = step % 2;
    expect(barrier(stage), (step ? 2 : 3) * kTileBytes);
    if (step == 0) load_tile(q, q_map, first_query, head, barrier(stage));
    load_tile(k(stage), k_map, step * kTile, head, barrier(stage));
    load_tile(v(stage), v_map, step * kTile, head, barrier(stage));
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < 2; ++stage)
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier(stage)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    load_step(0);
  }
  __syncthreads();  // the mbarriers are there for all

  Accumulator output = {};
  float greatest[2] = {-INFINITY, -INFINITY}, sum[2] = {};  // of rows `row` and `row + 8`
  for (int step = 0; step < steps; ++step) {
    const int stage = step % 2;
    if (threadIdx.x == 0 && step + 1 < steps) load_step(step + 1);
    wait(barrier(stage), step / 2 % 2);

    Accumulator scores;
    begin_products();
#pragma unroll
    for (int i = 0; i < 4; ++i) multiply_scores(scores, descriptor(q) + 2 * i, descriptor(k(stage)) + 2 * i, i > 0);
    finish_products();

    // Keys behind the end, and for a causal product those behind the query, have no weight.
    const int first_key = step * kTile;
    if (first_key + kTile > length || (causal && first_key + kTile > first_query))
#pragma unroll
      for (int i = 0; i < kTile / 2; ++i) {
        const int key = first_key + i / 4 * 8 + column + i % 2, query = first_query + row + i / 2 % 2 * 8;
        if (key >= length || (causal && key > query)) scores[i] = -INFINITY;
      }

    // The greatest score rises, and what was summed before shrinks.
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = greatest[half];
#pragma unroll
      for (int i = 0; i < kTile / 2; ++i) if (i / 2 % 2 == half) most = fmaxf(most, scores[i]);
      most = quad_max(most);
      const float shrink = exp2f((greatest[half] - most) * scale * kLog2E);
      greatest[half] = most;
      float part = 0;
#pragma unroll
      for (int i = 0; i < kTile / 2; ++i)
        if (i / 2 % 2 == half) {
          scores[i] = exp2f((scores[i] - most) * scale * kLog2E);
          part += scores[i];
          output[i] *= shrink;
        }
      sum[half] = sum[half] * shrink + part;
    }

    // What a thread holds of a result of 16 columns is what wgmma takes of a left factor: no exchange between lanes.
    unsigned probabilities[4][4];
#pragma unroll
    for (int i = 0; i < 16; ++i) probabilities[i / 4][i % 4] = packed(scores[2 * i], scores[2 * i + 1]);
    begin_products();
#pragma unroll
    for (int i = 0; i < 4; ++i) multiply_values(output, probabilities[i], descriptor(v(stage)) + i * 16 * 128 / 16);
    finish_products();
    __syncthreads();  // all have read the stage; the next turn but one fills it again
  }

  // O takes the place of Q, in the swizzle: 16-byte chunk c of row r lies at c ^ (r % 8).
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float factor = __fdividef(1, quad_sum(sum[half]));
    const int r = row + half * 8;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      *reinterpret_cast<unsigned*>(q + r * 128 + (i ^ r % 8) * 16 + column * 2) =
          packed(output[4 * i + 2 * half] * factor, output[4 * i + 2 * half + 1] * factor);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the copy unit sees these stores
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4}], [%0];"
                 ::"r"(shared_address(q)), "l"(&o_map), "n"(0), "r"(first_query), "r"(head) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
