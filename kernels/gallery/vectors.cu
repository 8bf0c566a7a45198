// Idea: accesses side by side that the compiler may put together, or must not: small types, mixed types, through a
//       loop, with other work between, across a store, with a pitch that breaks the alignment.
// Memory traffic: each element is read once and written once. Launch: block 64, any grid.

struct Mixed {
  float weight;
  int count;
  short low, high;
  unsigned char tag[4];
};

__global__ void mixed_fields(const float* in, float* out) {
  __shared__ Mixed items[64];
  const int thread = threadIdx.x;
  const float value = in[blockIdx.x * 64 + thread];
  items[thread].weight = value;
  items[thread].count = thread * 3;
  items[thread].low = static_cast<short>(thread);
  items[thread].high = static_cast<short>(-thread);
  for (int k = 0; k < 4; ++k) items[thread].tag[k] = static_cast<unsigned char>(thread + k);
  __syncthreads();
  const Mixed& other = items[63 - thread];
  out[blockIdx.x * 64 + thread] = other.weight * other.count + other.low * other.high + other.tag[1] + other.tag[3];
}

// Rows of six words: some pairs are aligned, no quadruple is.
__global__ void rows_of_six(const float* in, float* out) {
  __shared__ float rows[64][6];
  const int base = blockIdx.x * 384;
  for (int k = threadIdx.x; k < 384; k += 64) rows[k / 6][k % 6] = in[base + k];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 6; ++k) sum = sum * 1.5f + rows[threadIdx.x][k];
  for (int k = 0; k < 6; ++k) rows[threadIdx.x][k] = sum + k;
  __syncthreads();
  for (int k = threadIdx.x; k < 384; k += 64) out[base + k] = rows[k / 6][k % 6];
}

// Eight words of a lane, read in a loop, and written back in another order.
__global__ void eight_words(const float* in, float* out, int turns) {
  __shared__ __align__(16) float words[64 * 8];
  const int base = blockIdx.x * 512;
  for (int k = threadIdx.x; k < 512; k += 64) words[k] = in[base + k];
  __syncthreads();
  float held[8];
  for (int turn = 0; turn < turns; ++turn) {
    for (int k = 0; k < 8; ++k) held[k] = words[threadIdx.x * 8 + k];
    for (int k = 0; k < 8; ++k) words[threadIdx.x * 8 + (k ^ 1)] = held[k] * 0.5f + turn;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 512; k += 64) out[base + k] = words[k];
}

// A pair is stored with a load between the two stores.
__global__ void store_load_store(const double* in, double* out) {
  __shared__ double pairs[128], singles[64];
  const int thread = threadIdx.x;
  singles[thread] = in[blockIdx.x * 64 + thread];
  __syncthreads();
  pairs[2 * thread] = singles[thread] * 2;
  const double next = singles[(thread + 1) & 63];
  pairs[2 * thread + 1] = next;
  __syncthreads();
  out[blockIdx.x * 64 + thread] = pairs[2 * thread] - pairs[2 * thread + 1] + pairs[127 - 2 * thread];
}

// Neighbours in global memory: what the compiler puts together there.
__global__ void global_neighbours(const float* __restrict__ in, float* __restrict__ out) {
  const int k = (blockIdx.x * 64 + threadIdx.x) * 4;
  const float a = in[k], b = in[k + 1], c = in[k + 2], d = in[k + 3];
  out[k] = a + b;
  out[k + 1] = b + c;
  out[k + 2] = c + d;
  out[k + 3] = d + a;
}

// A table of 16-bit entries, looked up by bytes.
__global__ void look_up(const unsigned char* in, unsigned short* out) {
  __shared__ unsigned short table[256];
  for (int k = threadIdx.x; k < 256; k += 64) table[k] = static_cast<unsigned short>(k * k);
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    const int place = (blockIdx.x * 64 + threadIdx.x) * 4 + k;
    out[place] = table[in[place]];
  }
}
