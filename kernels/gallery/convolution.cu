// Idea: out[k] = sum of weight[j] * in[k + j]: weights in constant memory (all lanes read one word), data in shared
//       memory. In two dimensions a block keeps a tile with its halo, loaded by a loop that no thread count divides.
// Memory traffic: each element is read once, halo elements by each neighbour, and written once. Launch: block 96 and
//       any grid; two dimensions: block (16, 16), grid (columns / 16, rows / 16), data padded by 2 on each side.

__constant__ float kWeights[9] = {0.05f, 0.1f, 0.1f, 0.15f, 0.2f, 0.15f, 0.1f, 0.1f, 0.05f};

__global__ void convolution_1d(const float* in, float* out) {
  __shared__ float window[96 + 8];
  const int base = blockIdx.x * 96;
  for (int k = threadIdx.x; k < 96 + 8; k += 96) window[k] = in[base + k];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 9; ++j) sum += kWeights[j] * window[threadIdx.x + j];
  out[base + threadIdx.x] = sum;
}

__global__ void convolution_2d(const float* in, float* out, int columns) {
  __shared__ float tile[20][20];
  const int pitch = columns + 4;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  for (int k = thread; k < 400; k += 256) {
    tile[k / 20][k % 20] = in[(blockIdx.y * 16 + k / 20) * pitch + blockIdx.x * 16 + k % 20];
  }
  __syncthreads();
  float sum = 0;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 5; ++x) sum += kWeights[y + x] * tile[threadIdx.y + y][threadIdx.x + x];
  }
  out[(blockIdx.y * 16 + threadIdx.y) * columns + blockIdx.x * 16 + threadIdx.x] = sum;
}
