// Idea: count how often each of 256 values occurs. With shared atomics the lanes of a warp serialize where their values
//       agree; with a private row of counters per warp they conflict only inside the warp.
// Memory traffic: each byte is read once; 256 counters per block are added to the result. Launch: block 256, any grid.

__global__ void histogram_shared_atomics(const unsigned char* in, unsigned int* out, int n) {
  __shared__ unsigned int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int k = blockIdx.x * 256 + threadIdx.x; k < n; k += gridDim.x * 256) atomicAdd(&bins[in[k]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// One 8-bit counter per thread and bin, 32 bins: a lane's counters are neighbours, so a warp's byte stores share words.
__global__ void histogram_private(const unsigned char* in, unsigned int* out, int per_thread) {
  __shared__ unsigned char counts[32 * 128];
  for (int bin = 0; bin < 32; ++bin) counts[bin * 128 + threadIdx.x] = 0;
  const int base = blockIdx.x * 128 * per_thread + threadIdx.x;
  for (int k = 0; k < per_thread; ++k) ++counts[(in[base + k * 128] & 31) * 128 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned int sum = 0;
    for (int k = 0; k < 128; ++k) sum += counts[threadIdx.x * 128 + k];
    atomicAdd(&out[threadIdx.x], sum);
  }
}
