// Shared memory between the threads of a block: dynamic sizes, odd block sizes, several buffers, other types, locks.

// Sum of each block's elements; any block size up to 128, dynamic shared memory of 128 floats.
extern "C" __global__ void sum_of_any_block(const float* x, float* sums, int n) {
  extern __shared__ float partial[];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + thread;
  partial[thread] = i < n ? x[i] : 0.0f;
  if (thread < 128 - blockDim.x) {
    partial[blockDim.x + thread] = 0.0f;
  }
  __syncthreads();
  for (int stride = 64; stride > 0; stride /= 2) {
    if (thread < stride) {
      partial[thread] += partial[thread + stride];
    }
    __syncthreads();
  }
  if (thread == 0) {
    sums[blockIdx.x] = partial[0];
  }
}

// The mean of each row of a (16, 32) tile is subtracted from it. Block (32, 4).
extern "C" __global__ void subtract_row_mean(const float* x, float* y) {
  __shared__ float tile[16][33];
  __shared__ float mean[16];
  for (int row = threadIdx.y; row < 16; row += 4) {
    tile[row][threadIdx.x] = x[(blockIdx.x * 16 + row) * 32 + threadIdx.x];
  }
  __syncthreads();
  const int thread = threadIdx.y * 32 + threadIdx.x;
  if (thread < 16) {
    float sum = 0;
    for (int k = 0; k < 32; ++k) {
      sum += tile[thread][k];
    }
    mean[thread] = sum / 32;
  }
  __syncthreads();
  for (int row = threadIdx.y; row < 16; row += 4) {
    y[(blockIdx.x * 16 + row) * 32 + threadIdx.x] = tile[row][threadIdx.x] - mean[row];
  }
}

// Running sum over tiles of 64 with two buffers: while one is used, the other is filled. Block 64.
template <int tiles>
__global__ void sums_with_two_buffers(const float* x, float* y) {
  __shared__ float buffer[2][64];
  const int thread = threadIdx.x;
  buffer[0][thread] = x[thread];
  __syncthreads();
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int now = tile % 2;
    if (tile + 1 < tiles) {
      buffer[1 - now][thread] = x[(tile + 1) * 64 + thread];
    }
    sum += buffer[now][63 - thread];
    __syncthreads();
  }
  y[thread] = sum;
}

// One dynamic array for two types: `count` doubles, then `count` shorts.
extern "C" __global__ void two_types(const double* x, const short* shift, double* y, int count) {
  extern __shared__ unsigned char raw[];
  double* values = reinterpret_cast<double*>(raw);
  short* shifts = reinterpret_cast<short*>(raw + 8 * count);
  const int thread = threadIdx.x;
  values[thread] = x[blockIdx.x * count + thread];
  shifts[thread] = shift[thread];
  __syncthreads();
  const int from = (thread + shifts[thread]) % count;
  y[blockIdx.x * count + thread] = values[from] * shifts[from];
}

// Pixels of four bytes: written byte by byte, read as words, and the reverse.
extern "C" __global__ void swap_bytes(const unsigned int* in, unsigned int* out) {
  __shared__ unsigned int words[96];
  unsigned char* bytes = reinterpret_cast<unsigned char*>(words);
  const int thread = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    bytes[k * 96 + thread] = in[blockIdx.x * 96 + (k * 96 + thread) / 4] >> (k * 96 + thread) % 4 * 8;
  }
  __syncthreads();
  const unsigned int word = words[95 - thread];
  __syncthreads();
  words[thread] = __byte_perm(word, 0, 0x0123);
  __syncthreads();
  unsigned int result = 0;
  for (int k = 0; k < 4; ++k) {
    result |= bytes[4 * thread + k] << 8 * k;
  }
  out[blockIdx.x * 96 + thread] = result;
}

struct Body {
  float x, y, z, mass;
  double charge;
};

// Each thread takes its neighbour's structure whole.
extern "C" __global__ void pass_structures(const Body* in, Body* out) {
  __shared__ Body bodies[48];
  const int thread = threadIdx.x;
  bodies[thread] = in[blockIdx.x * 48 + thread];
  __syncthreads();
  Body body = bodies[(thread + 1) % 48];
  body.x += 1;
  out[blockIdx.x * 48 + thread] = body;
}

// A vector of the tile is read as float2.
extern "C" __global__ void pairs_of_a_tile(const float* x, float2* y) {
  __shared__ float2 tile[64];
  float* floats = &tile[0].x;
  const int thread = threadIdx.x;
  floats[thread] = x[blockIdx.x * 128 + thread];
  floats[thread + 64] = x[blockIdx.x * 128 + thread + 64];
  __syncthreads();
  const float2 pair = *reinterpret_cast<float2*>(floats + 2 * thread);
  y[blockIdx.x * 64 + thread] = make_float2(pair.y, pair.x);
}

// Sum by a lock in global memory that one thread of each block takes.
extern "C" __global__ void sum_under_a_lock(const float* x, float* total, int* lock) {
  __shared__ float partial[64];
  const int thread = threadIdx.x;
  partial[thread] = x[blockIdx.x * 64 + thread];
  __syncthreads();
  if (thread == 0) {
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += partial[k];
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *reinterpret_cast<volatile float*>(total) += sum;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// How many elements are in each of ten classes; the smallest and largest of all by atomics in shared memory.
extern "C" __global__ void classes(const int* x, int* counts, int* range, int n) {
  __shared__ int bins[10];
  __shared__ int least, most;
  const int thread = threadIdx.x;
  if (thread < 10) bins[thread] = 0;
  if (thread == 0) {
    least = 1 << 30;
    most = -(1 << 30);
  }
  __syncthreads();
  for (int i = thread; i < n; i += blockDim.x) {
    atomicAdd(&bins[x[i] % 10], 1);
    atomicMin(&least, x[i]);
    atomicMax(&most, x[i]);
  }
  __syncthreads();
  if (thread < 10) counts[thread] = bins[thread];
  if (thread == 0) {
    range[0] = least;
    range[1] = most;
  }
}
