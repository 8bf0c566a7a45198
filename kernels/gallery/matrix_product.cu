// Idea: C = A B by square tiles in shared memory, so each element of A and B is read n / tile times.
// Memory traffic: 2 n^3 / tile elements read, n^2 written. Launch: block (tile, tile), grid (n / tile, n / tile).

template <int tile>
__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[tile][tile];
  __shared__ float tile_b[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < n; start += tile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
