// Copies that go on while the threads work: cp.async, and bulk copies with mbarriers.

__device__ unsigned address_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
#define COPY_16(into, from) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address_of(into)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define AWAIT_ALL_BUT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")
#define INIT(object, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(object)), "r"(count) : "memory")
#define ARRIVE(object) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(object)) : "memory")
#define EXPECT(object, bytes) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(object)), "r"(bytes) : "memory")
#define BULK_LOAD(into, from, bytes, object) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                   address_of(into)),                                                                        \
               "l"(from), "r"(bytes), "r"(address_of(object))                                                \
               : "memory")
#define BULK_STORE(into, from, bytes) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(into), "r"(address_of(from)), \
               "r"(bytes)                                                                                  \
               : "memory")

__device__ bool is_over(const unsigned long long* object, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(address_of(object)), "r"(parity)  // is the phase over?
      : "memory");
  return done;
}

// The rows of a block, two at a time: the threads work on one while the next one is copied.
extern "C" __global__ void two_rows(const float* x, float* y, int rows) {
  __shared__ __align__(16) float row_of[2][256];
  COPY_16(&row_of[0][4 * threadIdx.x], x + blockIdx.x * 256 + 4 * threadIdx.x);
  COMMIT();
  int stage = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, stage ^= 1) {
    const int next = row + gridDim.x;
    if (next < rows) COPY_16(&row_of[stage ^ 1][4 * threadIdx.x], x + next * 256 + 4 * threadIdx.x);
    COMMIT();
    AWAIT_ALL_BUT(1);
    __syncthreads();  // the row is here
    for (int col = threadIdx.x; col < 256; col += 64) y[row * 256 + col] = 2 * row_of[stage][255 - col];
    __syncthreads();  // its stage is free
  }
}

// A row whose length is no multiple of four: the copies of its end write zeros behind it.
extern "C" __global__ void padded_rows(const float* x, float* y, int cols) {
  __shared__ __align__(16) float padded[256];
  const int col = 4 * threadIdx.x;
  const float* from = x + blockIdx.x * 252 + col;
  const unsigned bytes = col >= cols ? 0 : min(16, 4 * (cols - col));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(address_of(padded + col)), "l"(from), "r"(bytes)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 64) y[blockIdx.x * 256 + i] = padded[255 - i];
}

// The same pipeline of rows by bulk copies, that one thread issues and all wait for.
extern "C" __global__ void bulk_rows(const float* x, float* y, int rows) {
  __shared__ __align__(16) float row_of[2][256];
  __shared__ unsigned long long filled[2];
  if (threadIdx.x == 0) {
    INIT(&filled[0], 1);
    INIT(&filled[1], 1);
  }
  __syncthreads();  // both are initialised
  if (threadIdx.x == 0) {
    EXPECT(&filled[0], 1024);
    BULK_LOAD(row_of[0], x + blockIdx.x * 256, 1024, &filled[0]);
  }
  int stage = 0, parity = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const int next = row + gridDim.x;
    if (threadIdx.x == 0 && next < rows) {
      EXPECT(&filled[stage ^ 1], 1024);
      BULK_LOAD(row_of[stage ^ 1], x + next * 256, 1024, &filled[stage ^ 1]);
    }
    while (!is_over(&filled[stage], parity)) {
    }
    for (int col = threadIdx.x; col < 256; col += 64) y[row * 256 + col] = 3 * row_of[stage][255 - col];
    __syncthreads();  // the stage is free
    stage ^= 1;
    parity ^= stage == 0;
  }
}

// Results are gathered in shared memory and leave it by one bulk copy.
extern "C" __global__ void bulk_results(const float* x, float* y, int rows) {
  __shared__ __align__(16) float results[256];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int col = threadIdx.x; col < 256; col += 64) results[255 - col] = 2 * x[row * 256 + col];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();  // all results are there
    if (threadIdx.x == 0) {
      BULK_STORE(y + row * 256, results, 1024);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();  // they are read
  }
}

// One warp fetches tiles, the others work on them; mbarriers say which stages are filled and which are free.
extern "C" __global__ void two_roles(const float* x, float* y, int tiles) {
  __shared__ __align__(16) float tile_of[2][128];
  __shared__ unsigned long long filled[2], freed[2];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < 2; ++stage) {
      INIT(&filled[stage], 32);
      INIT(&freed[stage], 64);
    }
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % 2;
      while (!is_over(&freed[stage], (tile / 2 & 1) ^ 1)) {
      }
      COPY_16(&tile_of[stage][4 * threadIdx.x], x + tile * 128 + 4 * threadIdx.x);
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address_of(&filled[stage])) : "memory");
    }
  } else {
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % 2;
      while (!is_over(&filled[stage], tile / 2 & 1)) {
      }
      for (int i = threadIdx.x - 32; i < 128; i += 64) y[tile * 128 + i] = 2 * tile_of[stage][127 - i];
      ARRIVE(&freed[stage]);
    }
  }
}

// One block of a cluster fetches a row for all of them.
extern "C" __global__ void __cluster_dims__(2) one_row_for_all(const float* x, float* y) {
  __shared__ __align__(16) float row_of[256];
  __shared__ unsigned long long filled;
  if (threadIdx.x == 0) {
    INIT(&filled, 1);
    EXPECT(&filled, 1024);
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (blockIdx.x % 2 == 0 && threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 1024, [%2], %3;"
        ::"r"(address_of(row_of)), "l"(x + blockIdx.x / 2 * 256), "r"(address_of(&filled)), "h"(static_cast<short>(3))  // to both blocks
        : "memory");
  }
  while (!is_over(&filled, 0)) {
  }
  for (int col = threadIdx.x; col < 256; col += 64) y[blockIdx.x * 256 + col] = row_of[col] + blockIdx.x;
}
