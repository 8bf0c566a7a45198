// Barriers of the block: in loops, around branches, for blocks of two dimensions, and what is decided by all threads.

// Prefix sum of 64 elements by doubling, in place.
extern "C" __global__ void prefix_sum(const int* x, int* y) {
  __shared__ int sums[64];
  const int thread = threadIdx.x;
  sums[thread] = x[blockIdx.x * 64 + thread];
  __syncthreads();
  for (int distance = 1; distance < 64; distance *= 2) {
    int value = 0;
    if (thread >= distance) {
      value = sums[thread - distance];
    }
    __syncthreads();
    sums[thread] += value;
    __syncthreads();
  }
  y[blockIdx.x * 64 + thread] = sums[thread];
}

// Tiles of a vector of any length: all threads make all turns, and say how many. Block 96.
extern "C" __global__ void reverse_tiles(const float* x, float* y, int* turns, int n) {
  __shared__ float tile[96];
  int count = 0;
  for (int start = blockIdx.x * 96; start < n; start += gridDim.x * 96) {
    const int i = start + threadIdx.x;
    if (i < n) {
      tile[threadIdx.x] = x[i];
    }
    __syncthreads();  // all have written
    ++count;
    const int last = (n - start < 96 ? n - start : 96) - 1;
    if (i < n) {
      y[i] = tile[last - threadIdx.x];
    }
    __syncthreads();
  }
  turns[blockIdx.x * 96 + threadIdx.x] = count;
}

// Block (16, 6): the first row of threads sums the columns for all.
extern "C" __global__ void column_sums(const float* x, float* y) {
  __shared__ float tile[6][16];
  __shared__ float sum[16];
  const int k = (blockIdx.x * 6 + threadIdx.y) * 16 + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = x[k];
  __syncthreads();
  if (threadIdx.y == 0) {
    float total = 0;
    for (int row = 0; row < 6; ++row) {
      total += tile[row][threadIdx.x];
    }
    sum[threadIdx.x] = total;
  }
  __syncthreads();
  y[k] = tile[threadIdx.y][threadIdx.x] / sum[threadIdx.x];
}

// Odd and even turns by turns until nothing moves any more; the block decides together.
extern "C" __global__ void bubble_sort(int* x) {
  __shared__ int keys[64];
  const int thread = threadIdx.x;
  keys[thread] = x[blockIdx.x * 64 + thread];
  __syncthreads();
  int moved = 1;
  while (moved) {
    moved = 0;
    for (int odd = 0; odd < 2; ++odd) {
      if (thread % 2 == odd && thread < 63) {
        const int left = keys[thread];
        const int right = keys[thread + 1];
        if (left > right) {
          keys[thread] = right;
          keys[thread + 1] = left;
          moved = 1;
        }
      }
      __syncthreads();
    }
    moved = __syncthreads_or(moved);
  }
  x[blockIdx.x * 64 + thread] = keys[thread];
}

// Threads without work leave before the first barrier.
extern "C" __global__ void difference_of_the_rest(const float* x, float* y, int n) {
  __shared__ float values[64];
  const int thread = threadIdx.x;
  if (thread >= n) {
    return;
  }
  values[thread] = x[blockIdx.x * n + thread];
  __syncthreads();
  y[blockIdx.x * n + thread] = values[(thread + 1) % n] - values[thread];
}

// Halves of the block do different work and meet once.
extern "C" __global__ void two_halves(const float* x, float* y) {
  __shared__ float squares[64];
  __shared__ float roots[64];
  const int thread = threadIdx.x;
  if (thread < 64) {
    squares[thread] = x[thread] * x[thread];
  } else {
    roots[thread - 64] = sqrtf(x[thread - 64]);
  }
  __syncthreads();
  y[thread] = squares[thread % 64] + roots[63 - thread % 64];
}
