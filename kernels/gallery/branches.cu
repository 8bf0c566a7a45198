// Idea: branches in every form around accesses to shared memory: nested conditions, both sides of a choice, a switch,
//       early exits, conditions inside loops, loads that only one side uses, loads of the same word twice.
// Memory traffic: 128 elements per block are read once, one per thread is written. Launch: block 128, any grid.

__device__ inline int first(const int* in) { return in[blockIdx.x * 128 + threadIdx.x]; }
__device__ inline void last(int* out, int value) { out[blockIdx.x * 128 + threadIdx.x] = value; }

// A condition in a condition; both hold for few warps.
__global__ void nested_conditions(const int* in, int* out) {
  __shared__ int buffer[128], marks[128];
  const int thread = threadIdx.x;
  const int value = first(in);
  buffer[thread] = value;
  marks[thread] = 0;
  __syncthreads();
  int sum = value;
  if (thread < 64) {
    sum += buffer[thread + 64];
    if (thread < 16) {
      sum += buffer[thread * 4];
      if (thread == 3) marks[5] = sum;
    } else if (value > 900) {
      marks[thread] = 1;
    }
  }
  __syncthreads();
  last(out, sum + marks[thread]);
}

// Each side of the choice stores to another address. A long side cannot be predicated.
__global__ void both_sides(const int* in, int* out) {
  __shared__ int left[128], right[128], result[256];
  const int thread = threadIdx.x;
  const int value = first(in);
  left[thread] = value;
  right[thread] = -value;
  __syncthreads();
  if (value & 1) {
    result[thread] = left[127 - thread] * 3;
  } else {
    int x = right[thread ^ 1];
    for (int k = 0; k < value % 7; ++k) x = x * 5 + left[(thread * 2 + k) & 127];
    result[255 - thread] = x;
  }
  __syncthreads();
  last(out, value & 1 ? result[thread] : result[255 - thread]);
}

__global__ void choices(const int* in, int* out) {
  __shared__ int buffer[256], marks[128];
  const int thread = threadIdx.x;
  const int value = first(in);
  buffer[thread] = value;
  buffer[thread + 128] = value * 2;
  marks[thread] = 0;
  __syncthreads();
  int result = 0;
  switch (value % 6) {
    case 0: result = buffer[thread + 1]; break;
    case 1: result = buffer[2 * thread] + 1; break;
    case 2: result = buffer[255 - thread] - 2; break;
    case 3: result = buffer[thread & 31] * 3; break;
    case 4: marks[thread] = 7; break;
    default: result = value;
  }
  __syncthreads();
  last(out, result + marks[thread]);
}

// Threads beyond n leave at once; warps leave in the middle.
__global__ void early_exits(const int* in, int* out, int n) {
  __shared__ int buffer[128];
  const int thread = threadIdx.x;
  const int k = blockIdx.x * 128 + thread;
  buffer[thread] = k < n ? in[k] : 0;
  __syncthreads();
  if (k >= n) return;
  const int ahead = buffer[thread ^ 3];
  if (ahead < 200) return;
  const int more = buffer[(thread * 3) & 127];
  if (thread / 32 == 2 && more > 500) return;
  out[k] = ahead + more * buffer[thread];
}

// A condition inside a loop decides about a store and a load.
__global__ void condition_in_loop(const int* in, int* out, int turns) {
  __shared__ int buffer[128];
  const int thread = threadIdx.x;
  buffer[thread] = first(in);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < turns; ++k) {
    const int other = buffer[(thread + k) & 127];
    if (other > sum) sum += buffer[(other + k) & 127];
    if (k == thread % 8) sum -= 3;
  }
  last(out, sum);
}

// Two nested loops with counts of their own; the inner one steps by two words.
__global__ void triangle(const int* in, int* out, int n) {
  __shared__ int buffer[128];
  buffer[threadIdx.x] = first(in);
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; j += 2) sum += buffer[i] * buffer[j] + buffer[(j + threadIdx.x) & 127];
  }
  last(out, sum);
}

// Only one side needs the result of a load, and most warps take neither side.
__global__ void seldom_used(const int* in, int* out) {
  __shared__ int buffer[128];
  const int thread = threadIdx.x;
  const int value = first(in);
  buffer[thread] = value;
  __syncthreads();
  const int a = buffer[thread ^ 8];
  const int b = buffer[127 - thread];
  int result = value;
  if (thread < 40) {
    for (int k = 0; k < value % 5 + 1; ++k) result = result * 3 + a;
  }
  if (value > 990) result += b;
  last(out, result);
}

// One word is loaded twice with nothing between, and again behind a store that may have changed it.
__global__ void same_word_twice(const int* in, int* out) {
  __shared__ int buffer[128], other[128];
  const int thread = threadIdx.x;
  buffer[thread] = first(in);
  __syncthreads();
  const int once = buffer[thread ^ 1] + buffer[thread ^ 1] * buffer[(thread ^ 1) & 127];
  other[(thread * 7) & 127] = once;
  last(out, once + buffer[thread ^ 1]);
}

// Swap loop with a flag in shared memory: odd-even sort of the block.
__global__ void odd_even_sort(const int* in, int* out) {
  __shared__ int keys[128];
  __shared__ int changed;
  const int thread = threadIdx.x;
  keys[thread] = first(in);
  __syncthreads();
  for (int turn = 0; turn < 128; ++turn) {
    if (thread == 0) changed = 0;
    __syncthreads();
    const int left = 2 * thread + turn % 2;
    if (left + 1 < 128) {
      const int a = keys[left];
      const int b = keys[left + 1];
      if (a > b) {
        keys[left] = b;
        keys[left + 1] = a;
        changed = 1;
      }
    }
    __syncthreads();
    if (turn > 1 && changed == 0) break;
    __syncthreads();
  }
  __syncthreads();
  last(out, keys[thread]);
}
