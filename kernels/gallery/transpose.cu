// Idea: a 32 x 32 tile goes through shared memory, so that reads and writes of a transpose touch whole rows.
//       Writing the tile by rows and reading it by columns uses one bank 32 times, unless it is padded or swizzled.
// Memory traffic: each element is read once and written once. Launch: block (32, 8), grid (columns / 32, rows / 32).

enum class Tile { plain, padded, swizzled };

template <Tile tile_layout>
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  constexpr int kPitch = tile_layout == Tile::padded ? 33 : 32;
  __shared__ float tile[32 * kPitch];
  auto at = [](int row, int column) {
    return row * kPitch + (tile_layout == Tile::swizzled ? column ^ row : column);
  };
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int row = threadIdx.y; row < 32; row += 8) {
    tile[at(row, threadIdx.x)] = in[(blockIdx.y * 32 + row) * columns + column];
  }
  __syncthreads();
  const int out_column = blockIdx.y * 32 + threadIdx.x;
  for (int row = threadIdx.y; row < 32; row += 8) {
    out[(blockIdx.x * 32 + row) * rows + out_column] = tile[at(threadIdx.x, row)];
  }
}
