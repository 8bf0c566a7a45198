// C = A B on tensor cores: cp.async brings tiles into shared memory, ldmatrix takes fragments out, mma.sync multiplies.
//
// A is rows x depth, B is depth x columns, both f16 and row by row; C is rows x columns, f32. A block of 128 threads owns
// a tile of 64 x 64 of C, each of its 4 warps a quarter. Rows of tiles are shifted by XOR, so that the 8 rows of a matrix
// lie in different banks. Launch: grid (columns / 64, rows / 64), block 128. Rows and columns are multiples of 64, depth
// is one of 32.
#include <cuda_fp16.h>

constexpr int kTile = 64, kDepth = 32;

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy_async(__half* to, const __half* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// Where 8 elements of a tile lie: `chunk` counts eights from the start of the row.
__device__ int place_a(int row, int chunk) { return row * kDepth + (chunk ^ (row >> 1 & 3)) * 8; }
__device__ int place_b(int row, int chunk) { return row * kTile + (chunk ^ (row & 7)) * 8; }

extern "C" __global__ void __launch_bounds__(128)
tensor_product(const __half* a, const __half* b, float* c, int columns, int depth) {
  __shared__ __align__(128) __half tile_a[2][kTile * kDepth], tile_b[2][kDepth * kTile];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;

  auto fetch = [&](int step) {
#pragma unroll
    for (int turn = 0; turn < kTile * kDepth / 8 / 128; ++turn) {
      const int i = thread + turn * 128, row = i / (kDepth / 8), chunk = i % (kDepth / 8);
      copy_async(&tile_a[step % 2][place_a(row, chunk)],
                 a + static_cast<long long>(first_row + row) * depth + step * kDepth + chunk * 8);
    }
#pragma unroll
    for (int turn = 0; turn < kDepth * kTile / 8 / 128; ++turn) {
      const int i = thread + turn * 128, row = i / (kTile / 8), chunk = i % (kTile / 8);
      copy_async(&tile_b[step % 2][place_b(row, chunk)],
                 b + static_cast<long long>(step * kDepth + row) * columns + first_column + chunk * 8);
    }
  };

  float sum[2][4][4] = {};
  const int steps = depth / kDepth, warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  fetch(0);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) fetch(step + 1);
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const __half *at_a = tile_a[step % 2], *at_b = tile_b[step % 2];
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      unsigned left[2][4], right[2][4];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const unsigned from = shared_address(at_a + place_a(warp_row + m * 16 + lane % 16, k / 8 + lane / 16));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(left[m][0]), "=r"(left[m][1]), "=r"(left[m][2]), "=r"(left[m][3])
                     : "r"(from)
                     : "memory");
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const unsigned from = shared_address(at_b + place_b(k + lane % 16, warp_column / 8 + n * 2 + lane / 16));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(right[n][0]), "=r"(right[n][1]), "=r"(right[n][2]), "=r"(right[n][3])
                     : "r"(from)
                     : "memory");
      }
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          float* d = sum[m][n];
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                       "{%0, %1, %2, %3};"
                       : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                       : "r"(left[m][0]), "r"(left[m][1]), "r"(left[m][2]), "r"(left[m][3]),
                         "r"(right[n / 2][n % 2 * 2]), "r"(right[n / 2][n % 2 * 2 + 1]));
        }
    }
    __syncthreads();
  }
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 4; ++n)
      for (int half = 0; half < 2; ++half) {
        const long long row = first_row + warp_row + m * 16 + half * 8 + lane / 4;
        const int column = first_column + warp_column + n * 8 + lane % 4 * 2;
        *reinterpret_cast<float2*>(c + row * columns + column) = {sum[m][n][half * 2], sum[m][n][half * 2 + 1]};
      }
}
