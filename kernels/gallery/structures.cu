// Idea: how data lies in shared memory: arrays in a structure, quadruples of integers, pairs of halves, several arrays
//       of different types in one dynamic allocation, pointers that may mean shared or global memory.
// Memory traffic: each element is read once and written once. Launch: block 96 (of_arrays), 128 (the others); any grid.

#include <cuda_fp16.h>

struct Bodies {
  float x[96];
  float y[96];
  float mass[96];
};

// Every thread needs all bodies: the lanes of a warp read one word.
__global__ void structure_of_arrays(const float* in, float* out) {
  __shared__ Bodies bodies;
  const int thread = threadIdx.x;
  const int k = blockIdx.x * 96 + thread;
  bodies.x[thread] = in[k];
  bodies.y[thread] = in[k] * 0.5f;
  bodies.mass[thread] = 1.0f + in[k] * in[k];
  __syncthreads();
  float force = 0;
  for (int other = 0; other < 96; ++other) {
    const float dx = bodies.x[other] - bodies.x[thread];
    const float dy = bodies.y[other] - bodies.y[thread];
    force += bodies.mass[other] / (dx * dx + dy * dy + 0.01f);
  }
  out[k] = force;
}

// Words are written one by one and read as int4, four per lane.
__global__ void quadruples(const int* in, int* out) {
  __shared__ __align__(16) int words[512];
  for (int k = threadIdx.x; k < 512; k += 128) words[k] = in[blockIdx.x * 512 + k];
  __syncthreads();
  const int4 four = reinterpret_cast<const int4*>(words)[(threadIdx.x * 3) % 128];
  out[blockIdx.x * 128 + threadIdx.x] = four.x + four.y * four.z - four.w;
}

// Pairs of halves: each lane reads its own and the next.
__global__ void pairs_of_halves(const __half2* in, __half2* out) {
  __shared__ __half2 pairs[129];
  const int k = blockIdx.x * 128 + threadIdx.x;
  pairs[threadIdx.x] = in[k];
  if (threadIdx.x == 0) pairs[128] = __half2{__half(0.0f), __half(0.0f)};
  __syncthreads();
  out[k] = __hadd2(pairs[threadIdx.x], pairs[threadIdx.x + 1]);
}

// Three arrays of different types share the dynamic allocation.
__global__ void several_arrays(const float* in, float* out, int n) {
  extern __shared__ __align__(16) unsigned char memory[];
  double* sums = reinterpret_cast<double*>(memory);
  float* values = reinterpret_cast<float*>(sums + n);
  unsigned short* order = reinterpret_cast<unsigned short*>(values + n);
  const int thread = threadIdx.x;
  if (thread < n) {
    values[thread] = in[blockIdx.x * n + thread];
    order[thread] = (thread * 7) % n;
    sums[thread] = 0;
  }
  __syncthreads();
  if (thread < n) {
    sums[order[thread]] += values[thread];
    sums[order[thread]] += values[(thread + 1) % n];
  }
  __syncthreads();
  if (thread < n) out[blockIdx.x * n + thread] = static_cast<float>(sums[thread]);
}

// The compiler cannot know which memory the pointer means.
__device__ __noinline__ float pick(const float* from, int k) { return from[k]; }

__global__ void generic_pointer(const float* in, float* out, int from_shared) {
  __shared__ float buffer[128];
  const int k = blockIdx.x * 128;
  buffer[threadIdx.x] = in[k + threadIdx.x] * 2;
  __syncthreads();
  const float* source = from_shared ? buffer : in + k;
  out[k + threadIdx.x] = pick(source, 127 - threadIdx.x);
}

// Volatile accesses stay as they are written: here two words per lane, side by side.
__global__ void volatile_pairs(const float* in, float* out) {
  __shared__ volatile float buffer[256];
  const int k = blockIdx.x * 256 + threadIdx.x;
  buffer[threadIdx.x * 2] = in[k];
  buffer[threadIdx.x * 2 + 1] = in[k + 128];
  __syncthreads();
  out[k] = buffer[255 - threadIdx.x * 2] + buffer[254 - threadIdx.x * 2];
}
