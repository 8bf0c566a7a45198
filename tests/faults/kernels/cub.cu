// CUB's block and warp primitives, one after the other in the same shared memory.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>

template <int block_size, int items>
__global__ void block_primitives(const int* x, int* y) {
  using Load = cub::BlockLoad<int, block_size, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, block_size, items>;
  using Scan = cub::BlockScan<int, block_size, cub::BLOCK_SCAN_WARP_SCANS>;
  using Reduce = cub::BlockReduce<int, block_size>;
  using Store = cub::BlockStore<int, block_size, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    typename Store::TempStorage store;
  } shared;
  __shared__ int total;
  const int first = blockIdx.x * block_size * items;
  int values[items];
  Load(shared.load).Load(x + first, values);
  __syncthreads();
  Sort(shared.sort).Sort(values);
  __syncthreads();
  Scan(shared.scan).InclusiveSum(values, values);
  __syncthreads();
  const int sum = Reduce(shared.reduce).Sum(values);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  for (int k = 0; k < items; ++k) values[k] ^= total;
  Store(shared.store).Store(y + first, values);
}

template <int lanes>
__global__ void warp_primitives(const float* x, float* y) {
  using Reduce = cub::WarpReduce<float, lanes>;
  using Scan = cub::WarpScan<float, lanes>;
  __shared__ typename Reduce::TempStorage reduce[96 / lanes];
  __shared__ typename Scan::TempStorage scan[96 / lanes];
  const int i = blockIdx.x * 96 + threadIdx.x;
  const int group = threadIdx.x / lanes;
  const float largest = Reduce(reduce[group]).Reduce(x[i], cuda::maximum<>{});
  float sum;
  Scan(scan[group]).ExclusiveSum(x[i], sum);
  y[i] = sum + (threadIdx.x % lanes == 0 ? largest : 0.0f);
}
