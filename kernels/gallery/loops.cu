// Idea: loops over shared memory whose trip count is known only when they run: what the compiler unrolls, and by how
//       much, decides which instructions the hardware counts.
// Memory traffic: a block's 256 elements are read once; one element per thread is written. Launch: block 64, any grid.

__device__ inline void fill(const int* in, int* buffer) {
  for (int k = threadIdx.x; k < 256; k += 64) buffer[k] = in[blockIdx.x * 256 + k];
  __syncthreads();
}

// Each thread adds up to n neighbours.
__global__ void sum_of_neighbours(const int* in, int* out, int n) {
  __shared__ int buffer[256];
  fill(in, buffer);
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += buffer[threadIdx.x + k];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// The same, unrolled by the programmer, and with a different count in each lane.
__global__ void unrolled_sum(const int* in, int* out, int n) {
  __shared__ int buffer[256];
  fill(in, buffer);
  int sum = 0;
  const int count = n + threadIdx.x % 5;
#pragma unroll 4
  for (int k = 0; k < count; ++k) sum += buffer[(threadIdx.x * 2 + k) & 255];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// The first multiple of 7 from the thread's index on.
__global__ void first_match(const int* in, int* out) {
  __shared__ int buffer[256];
  fill(in, buffer);
  int found = -1;
  for (int k = threadIdx.x; k < 256; ++k) {
    if (buffer[k] % 7 == 0) {
      found = k;
      break;
    }
  }
  out[blockIdx.x * 64 + threadIdx.x] = found;
}

// Binary search in a sorted block.
__global__ void lower_bound(const int* in, int* out, int n) {
  __shared__ int buffer[256];
  fill(in, buffer);
  const int wanted = (threadIdx.x * 37 + blockIdx.x) % 1000;
  int low = 0;
  int high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (buffer[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[blockIdx.x * 64 + threadIdx.x] = low;
}

// The data decides about the stores: keep the positive elements, in place.
__global__ void clamp_in_place(const int* in, int* out) {
  __shared__ int buffer[256];
  fill(in, buffer);
  for (int k = threadIdx.x; k < 256; k += 64) {
    const int value = buffer[k];
    if (value < 500) buffer[k] = 500 - value;
    if (value % 3 == 0 && threadIdx.x > 20) buffer[k] += 1;
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = buffer[threadIdx.x * 4];
}
