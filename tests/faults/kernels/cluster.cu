// Thread-block clusters: blocks that write to, read from and signal each other.

__device__ unsigned address_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ unsigned map(const void* p, unsigned rank) {
  unsigned mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address_of(p)), "r"(rank));
  return mapped;
}
#define ARRIVE() asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define AWAIT() asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#define STORE(address, value) asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory")
#define LOAD(value, address) asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory")

// Each block hands its part to the next one, again and again, into one of two buffers.
extern "C" __global__ void __cluster_dims__(4) pass_around(const float* x, float* y, int turns) {
  __shared__ float part[2][64];
  part[0][threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  ARRIVE();
  AWAIT();  // all have begun
  for (int turn = 0; turn < turns; ++turn) {
    const float mine = part[turn % 2][63 - threadIdx.x];
    const unsigned there = map(&part[(turn + 1) % 2][threadIdx.x], (cluster_rank() + 1) % 4);
    STORE(there, mine + 1);
    ARRIVE();
    AWAIT();  // all have handed over
  }
  y[blockIdx.x * 64 + threadIdx.x] = part[turns % 2][threadIdx.x];
}

// The sum of a row that is split over the blocks of a cluster; while they wait for each other they already work on.
extern "C" __global__ void __cluster_dims__(2, 2) sum_of_parts(const float* x, float* y, int cols) {
  __shared__ float partial, in_warps[2];
  const int row = blockIdx.y / 2 * (gridDim.x / 2) + blockIdx.x / 2;
  float sum = 0;
  for (int col = cluster_rank() * 64 + threadIdx.x; col < cols; col += 256) sum += x[row * cols + col];
  for (int lane = 16; lane; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);
  if (threadIdx.x % 32 == 0) in_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) partial = in_warps[0] + in_warps[1];
  ARRIVE();  // own part done
  AWAIT();   // all parts done
  float whole = 0;
  for (int rank = 0; rank < 4; ++rank) {
    float theirs;
    const unsigned there = map(&partial, rank);
    LOAD(theirs, there);
    whole += theirs;
  }
  ARRIVE();  // nothing left to read
  for (int col = cluster_rank() * 64 + threadIdx.x; col < cols; col += 256)
    y[row * cols + col] = x[row * cols + col] / whole;
  AWAIT();  // nobody reads here any more
}

// Block 1 sends block 0 a message, and tells it so at an mbarrier there.
extern "C" __global__ void __cluster_dims__(2) message(const float* x, float* y) {
  __shared__ float received[64];
  __shared__ unsigned long long arrived;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&arrived)), "r"(64));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  AWAIT();
  if (cluster_rank() == 1) {
    const float value = 3 * x[blockIdx.x * 64 + threadIdx.x];
    const unsigned there = map(&received[threadIdx.x], 0);
    const unsigned signal = map(&arrived, 0);
    STORE(there, value);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(signal) : "memory");
  } else {
    unsigned done = 0;
    while (!done)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(address_of(&arrived))  // has the message come?
          : "memory");
    y[blockIdx.x / 2 * 64 + threadIdx.x] = received[63 - threadIdx.x];
  }
}

// The same by stores that the mbarrier counts in bytes.
extern "C" __global__ void __cluster_dims__(2) counted_message(const float* x, float* y) {
  __shared__ float received[64];
  __shared__ unsigned long long arrived;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&arrived)), "r"(1));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&arrived)), "r"(256));
  }
  ARRIVE();
  AWAIT();
  const float value = 3 * x[blockIdx.x * 64 + threadIdx.x];
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(
          map(&received[threadIdx.x], cluster_rank() ^ 1)),
      "f"(value), "r"(map(&arrived, cluster_rank() ^ 1))  // to the other block
      : "memory");
  unsigned come = 0;
  while (!come)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(come)
        : "r"(address_of(&arrived))
        : "memory");
  y[blockIdx.x * 64 + threadIdx.x] = received[63 - threadIdx.x];
}
