// A cluster as cooperative groups has it: generic addresses of other blocks.
#include <cooperative_groups.h>

// Counts of a histogram that is split over a cluster: each block owns some of the bins.
extern "C" __global__ void __cluster_dims__(4) split_histogram(const int* x, int* bins, int n) {
  __shared__ int own[32];
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 32) own[threadIdx.x] = 0;
  cluster.sync();  // all are zero
  for (int i = cluster.block_rank() * blockDim.x + threadIdx.x; i < n; i += 4 * blockDim.x) {
    int* theirs = cluster.map_shared_rank(own, x[i] / 32);
    atomicAdd(&theirs[x[i] % 32], 1);
  }
  cluster.sync();  // all have counted
  if (threadIdx.x < 32) atomicAdd(&bins[cluster.block_rank() * 32 + threadIdx.x], own[threadIdx.x]);
}
