// Idea: shared memory has 32 banks of 4 bytes. A warp's access takes as many wavefronts as the fullest bank has
//       different words; lanes on one word share it.
// Memory traffic: one element read and written per thread. Launch: block 128, any grid.

// Lane l touches word l * stride: a stride of 2, 4, ... gives 2, 4, ... lanes per bank; an odd stride gives one.
template <int stride>
__global__ void shared_stride(const float* in, float* out) {
  __shared__ float buffer[128 * stride];
  const int k = blockIdx.x * 128 + threadIdx.x;
  buffer[threadIdx.x * stride] = in[k];
  __syncthreads();
  out[k] = buffer[((threadIdx.x + 32) % 128) * stride];
}

// All lanes of a warp read one word.
__global__ void shared_broadcast(const float* in, float* out) {
  __shared__ float buffer[128];
  const int k = blockIdx.x * 128 + threadIdx.x;
  buffer[threadIdx.x] = in[k];
  __syncthreads();
  out[k] = buffer[threadIdx.x / 32];
}

// 64- and 128-bit accesses (float2, float4), read back in another order.
template <typename Vector>
__global__ void shared_vector(const Vector* in, Vector* out, int turn) {
  __shared__ Vector buffer[128];
  const int k = blockIdx.x * 128 + threadIdx.x;
  buffer[threadIdx.x] = in[k];
  __syncthreads();
  out[k] = buffer[(threadIdx.x * 5 + turn) % 128];
}

// 8- and 16-bit elements: several lanes share a word.
template <typename Small>
__global__ void shared_small(const Small* in, Small* out, int stride) {
  __shared__ Small buffer[128 * 4];
  const int k = blockIdx.x * 128 + threadIdx.x;
  buffer[(threadIdx.x * stride) % 512] = in[k];
  __syncthreads();
  out[k] = buffer[((threadIdx.x + 1) * stride) % 512];
}

// Structures of three words: an odd stride, no conflict; of four: a stride of four.
template <int words>
__global__ void shared_structures(const float* in, float* out) {
  __shared__ float buffer[64 * words];
  for (int word = 0; word < words; ++word) {
    buffer[threadIdx.x * words + word] = in[(blockIdx.x * 64 + threadIdx.x) * words + word];
  }
  __syncthreads();
  float sum = 0;
  for (int word = 0; word < words; ++word) sum += buffer[(63 - threadIdx.x) * words + word] * (word + 1);
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
