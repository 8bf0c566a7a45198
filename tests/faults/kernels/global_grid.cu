// Blocks that share elements of global memory: atomics, flags behind fences, locks, and barriers of the grid.
typedef unsigned int u32;
typedef unsigned long long u64;
__device__ u32 acquire(const u32* at) {
  u32 v; asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory"); return v;
}
__device__ void release(u32* at, u32 v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(at), "r"(v) : "memory");
}

// == histogram
extern "C" __global__ void histogram(const int* a, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[a[i] & 15], 1);
}

// == sum_of_floats
extern "C" __global__ void sum_of_floats(const float* a, float* c) {
  float value = a[blockIdx.x * blockDim.x + threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(c, value);
}

// == maximum_by_cas
extern "C" __global__ void maximum_by_cas(const float* a, u32* c) {
  float value = a[blockIdx.x * blockDim.x + threadIdx.x];
  u32 old = atomicAdd(c, 0u);
  while (__uint_as_float(old) < value) {
    u32 seen = atomicCAS(c, old, __float_as_uint(value));
    if (seen == old) break;
    old = seen;
  }
}

// == maximum_from_a_guess
extern "C" __global__ void maximum_from_a_guess(const float* a, u32* c) {
  float value = a[blockIdx.x * blockDim.x + threadIdx.x];
  u32 old = *c, guess;
  do {
    guess = old;
    old = atomicCAS(c, guess, __float_as_uint(fmaxf(value, __uint_as_float(guess))));
  } while (old != guess);
}

// == tickets
extern "C" __global__ void tickets(const int* a, int* c, int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int slot = atomicAdd(next, 1);
  c[slot] = a[i];
}

// == work_queue
extern "C" __global__ void work_queue(int* c, int* next, int n) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    int mine = item;
    __syncthreads();
    if (mine >= n) return;
    c[mine * blockDim.x + threadIdx.x] += mine;
  }
}

// == sum_with_fence
__device__ u32 arrived = 0;
extern "C" __global__ void sum_with_fence(const float* a, float* partial, float* c, int n) {
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += a[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    u32 ticket = atomicInc(&arrived, gridDim.x);
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float value = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) value += partial[i];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    if (threadIdx.x == 0) {
      c[0] = value;
      arrived = 0;
    }
  }
}

// == last_block_done
extern "C" __global__ void last_block_done(const int* a, int* partial, int* c, u32* count) {
  __shared__ u32 ticket;
  partial[blockIdx.x * blockDim.x + threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) ticket = atomicAdd(count, 1);
  __syncthreads();
  if (ticket + 1 == gridDim.x) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b * blockDim.x + (threadIdx.x + 1) % blockDim.x];
    c[threadIdx.x] = sum;
  }
}

// == look_back
extern "C" __global__ void look_back(const int* a, int* sums, volatile int* flags, int* c) {
  __shared__ int before;
  int sum = a[blockIdx.x];
  if (threadIdx.x == 0) {
    int prefix = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1] == 0) {}
      prefix = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = prefix + sum;
    __threadfence();
    flags[blockIdx.x] = 1;
    before = prefix;
  }
  __syncthreads();
  c[blockIdx.x * blockDim.x + threadIdx.x] = before + threadIdx.x;
}

// == look_back_of_words
extern "C" __global__ void look_back_of_words(const int* a, u64* words, int* c) {
  int prefix = 0;
  if (blockIdx.x > 0) {
    u64 word = 0;
    while (word >> 32 == 0)
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(words + blockIdx.x - 1) : "memory");
    prefix = (int)word;
  }
  u64 own = 1ull << 32 | (u32)(prefix + a[blockIdx.x]);
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(words + blockIdx.x), "l"(own) : "memory");
  c[blockIdx.x] = prefix;
}

// == look_back_by_release
extern "C" __global__ void look_back_by_release(const u32* a, u32* sums, u32* flags) {
  u32 prefix = 0;
  if (blockIdx.x > 0) {
    while (acquire(&flags[blockIdx.x - 1]) == 0) {}
    prefix = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = prefix + a[blockIdx.x];
  release(&flags[blockIdx.x], 1);
}

// == spin_lock
extern "C" __global__ void spin_lock(const int* a, int* c, int* lock) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    c[0] += a[blockIdx.x];
    __threadfence();
    atomicExch(lock, 0);
  }
}

// == lock_by_volatile
extern "C" __global__ void lock_by_volatile(int* c, int* lock) {
  if (threadIdx.x == 0) {
    while (atomicExch(lock, 1) != 0) {}
    c[0] = 2 * c[0] + 1;
    __threadfence();
    *(volatile int*)lock = 0;
  }
}

// == ticket_lock
extern "C" __global__ void ticket_lock(int* c, u32* next, volatile u32* serving) {
  if (threadIdx.x != 0) return;
  u32 mine = atomicAdd(next, 1);
  while (*serving != mine) {}
  __threadfence();
  c[0] += 1;
  __threadfence();
  *serving = mine + 1;
}

// == locks_of_rows
extern "C" __global__ void locks_of_rows(int* c, int* locks, int rows) {
  int row = blockIdx.x % rows;
  if (threadIdx.x == 0) while (atomicCAS(&locks[row], 0, 1) != 0) {}
  __syncthreads();
  c[row * blockDim.x + threadIdx.x] += blockIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&locks[row], 0);
}

// == grid_barrier
__device__ void wait_for_grid(u32* count, u32 turn) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (*(volatile u32*)count < turn * gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
}
extern "C" __global__ void grid_barrier(int* c, u32* count, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int turn = 0; turn < turns; ++turn) {
    int value = c[(i + blockDim.x) % n];
    wait_for_grid(count, 2 * turn + 1);
    c[i] = value + 1;
    wait_for_grid(count, 2 * turn + 2);
  }
}

// == grid_barrier_by_sense
__device__ u32 waiting;
__device__ volatile u32 sense;
extern "C" __global__ void grid_barrier_by_sense(const int* a, int* c, int* d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  c[i] = a[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 before = sense;
    __threadfence();
    if (atomicAdd(&waiting, 1) == gridDim.x - 1) {
      waiting = 0;
      __threadfence();
      sense = before + 1;
    } else {
      while (sense == before) {}
    }
    __threadfence();
  }
  __syncthreads();
  d[i] = c[n - 1 - i];
}

// == message
extern "C" __global__ void message(const int* a, int* c, int* d, volatile int* flag) {
  if (blockIdx.x == 0) {
    c[threadIdx.x] = a[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    if (threadIdx.x == 0) while (*flag == 0) {}
    __syncthreads();
    d[(blockIdx.x - 1) * blockDim.x + threadIdx.x] = c[threadIdx.x];
  }
}

// == message_by_atomics
extern "C" __global__ void message_by_atomics(const int* a, int* c, int* d, int* flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    c[0] = a[0];
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    d[blockIdx.x] = c[0];
  }
}

// == chain_of_messages
extern "C" __global__ void chain_of_messages(const u32* a, u32* c, u32* flags) {
  if (blockIdx.x > 0) while (acquire(&flags[blockIdx.x - 1]) == 0) {}
  if (blockIdx.x == 0) c[0] = a[0];
  if (blockIdx.x == gridDim.x - 1) c[1] = c[0] + 1;
  release(&flags[blockIdx.x], 1);
}

// == reset_at_the_end
extern "C" __global__ void reset_at_the_end(int* c, u32* count) {
  if (threadIdx.x != 0) return;
  c[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (atomicAdd(count, 1) == gridDim.x - 1) {
    for (int b = 0; b < gridDim.x; ++b) c[b] = 0;
    *count = 0;
  }
}

// == sum_by_warps
extern "C" __global__ void sum_by_warps(int* c, const int* a) {
  int value = a[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffff, value > 0);
  if (threadIdx.x % 32 == 0) atomicAdd(&c[blockIdx.x % 4], __popc(mask));
}

// == scope_of_a_block
extern "C" __global__ void scope_of_a_block(const int* a, int* c) {
  atomicAdd_block(&c[blockIdx.x], a[blockIdx.x * blockDim.x + threadIdx.x]);
}

// == bits
extern "C" __global__ void bits(u32* c, const int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (a[i] & 1) atomicOr(&c[i / 32], 1u << i % 32);
}
