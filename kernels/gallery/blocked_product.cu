// Idea: C = A B where a thread computes 4 x 4 elements from registers, so that a word of shared memory serves four
//       multiplications; the tile of A is stored transposed, both are read as float4.
// Memory traffic: n^3 / 32 elements read, n^2 written. Launch: block (16, 16), grid (n / 64, n / 64).

__global__ void blocked_product(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float tile_a[8][64];
  __shared__ __align__(16) float tile_b[8][64];
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sum[4][4] = {};
  for (int start = 0; start < n; start += 8) {
    for (int k = thread; k < 512; k += 256) {
      tile_a[k % 8][k / 8] = a[(blockIdx.y * 64 + k / 8) * n + start + k % 8];
      tile_b[k / 64][k % 64] = b[(start + k / 64) * n + blockIdx.x * 64 + k % 64];
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
      const float4 left = *reinterpret_cast<const float4*>(&tile_a[k][threadIdx.y * 4]);
      const float4 right = *reinterpret_cast<const float4*>(&tile_b[k][threadIdx.x * 4]);
      const float rows[4] = {left.x, left.y, left.z, left.w};
      const float columns[4] = {right.x, right.y, right.z, right.w};
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] += rows[i] * columns[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      c[(blockIdx.y * 64 + threadIdx.y * 4 + i) * n + blockIdx.x * 64 + threadIdx.x * 4 + j] = sum[i][j];
    }
  }
}

// One warp per row: its lanes stride along the row, and a butterfly adds up. Launch: block 128, grid rows / 4.
__global__ void matrix_vector(const double* a, const double* x, double* y, int columns) {
  __shared__ double vector[256];
  for (int k = threadIdx.x; k < columns; k += 128) vector[k] = x[k];
  __syncthreads();
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  double sum = 0;
  for (int k = threadIdx.x % 32; k < columns; k += 32) sum += a[row * columns + k] * vector[k];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}
