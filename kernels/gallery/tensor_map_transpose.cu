// The transpose of a matrix by tensor maps: one thread asks for a tile, and the copy unit moves it both ways.
//
// The hardware swizzle puts the 16-byte chunks of a tile's rows into different banks. A thread takes 4 x 4 elements as
// four chunks, turns them around in registers and writes four chunks. Both are free of bank conflicts, since the eight
// lanes of a phase take blocks on a diagonal. Tiles at the edge need no test: what is outside is zero and is not
// stored. Launch: grid (ceil(columns / 32), ceil(rows / 32)), block 64. Maps: boxes of 32 x 32 floats, swizzle 128B.
#include <cuda.h>

constexpr int kTile = 32, kChunk = 4, kBytes = kTile * kTile * sizeof(float);

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// Where a chunk of a row lies with the swizzle of 128 bytes.
__device__ float4* place(float* tile, int row, int chunk) {
  return reinterpret_cast<float4*>(tile + row * kTile + (chunk ^ (row & 7)) * kChunk);
}

extern "C" __global__ void __launch_bounds__(64)
tensor_map_transpose(const __grid_constant__ CUtensorMap source, const __grid_constant__ CUtensorMap target) {
  __shared__ __align__(1024) float tile[kTile * kTile], turned[kTile * kTile];
  __shared__ unsigned long long arrived;
  const int column = blockIdx.x * kTile, row = blockIdx.y * kTile;
  const unsigned barrier = shared_address(&arrived);

  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "n"(kBytes) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        ::"r"(shared_address(tile)), "l"(&source), "r"(column), "r"(row), "r"(barrier) : "memory");
  }
  __syncthreads();  // the mbarrier is there for all
  for (unsigned done = 0; !done;)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier) : "memory");

  const int right = threadIdx.x % 8, down = right ^ (threadIdx.x / 8);
  float4 block[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) block[k] = *place(tile, 4 * down + k, right);
  *place(turned, 4 * right + 0, down) = make_float4(block[0].x, block[1].x, block[2].x, block[3].x);
  *place(turned, 4 * right + 1, down) = make_float4(block[0].y, block[1].y, block[2].y, block[3].y);
  *place(turned, 4 * right + 2, down) = make_float4(block[0].z, block[1].z, block[2].z, block[3].z);
  *place(turned, 4 * right + 3, down) = make_float4(block[0].w, block[1].w, block[2].w, block[3].w);

  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the copy unit sees these stores
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];"
                 ::"r"(shared_address(turned)), "l"(&target), "r"(row), "r"(column) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
