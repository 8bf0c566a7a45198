// Idea: the running sum of a block's elements in shared memory. Hillis and Steele add at doubling distances between two
//       buffers (more additions, no conflicts); Blelloch uses a tree (fewer additions, strides with bank conflicts).
// Memory traffic: each element is read once and written once. Launch: block 256, any grid; sums restart per block.

__global__ void scan_hillis_steele(const float* in, float* out) {
  __shared__ float buffer[2][256];
  const int thread = threadIdx.x;
  int from = 0;
  buffer[0][thread] = in[blockIdx.x * 256 + thread];
  __syncthreads();
  for (int distance = 1; distance < 256; distance *= 2) {
    const float value = buffer[from][thread];
    buffer[1 - from][thread] = thread >= distance ? value + buffer[from][thread - distance] : value;
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 256 + thread] = buffer[from][thread];
}

__global__ void scan_blelloch(const float* in, float* out) {
  __shared__ float tree[512];
  const int thread = threadIdx.x;
  tree[2 * thread] = in[blockIdx.x * 512 + 2 * thread];
  tree[2 * thread + 1] = in[blockIdx.x * 512 + 2 * thread + 1];
  int stride = 1;
  for (int pairs = 256; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (thread < pairs) tree[stride * (2 * thread + 2) - 1] += tree[stride * (2 * thread + 1) - 1];
    stride *= 2;
  }
  __syncthreads();
  if (thread == 0) tree[511] = 0;
  for (int pairs = 1; pairs < 512; pairs *= 2) {
    stride /= 2;
    __syncthreads();
    if (thread < pairs) {
      const int left = stride * (2 * thread + 1) - 1;
      const int right = stride * (2 * thread + 2) - 1;
      const float value = tree[left];
      tree[left] = tree[right];
      tree[right] += value;
    }
  }
  __syncthreads();
  out[blockIdx.x * 512 + 2 * thread] = tree[2 * thread];
  out[blockIdx.x * 512 + 2 * thread + 1] = tree[2 * thread + 1];
}
