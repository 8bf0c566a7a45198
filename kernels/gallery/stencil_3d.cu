// Idea: a block walks a column of planes; a plane lies in shared memory, the ones above and below in registers. A
//       thread at the edge of the grid writes nothing.
// Memory traffic: each element is read once, and once more in a halo; inner elements are written. Launch: block (16,
//       8), grid (nx / 16, ny / 8), any nz >= 2.

__global__ void stencil_3d(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float plane[10][18];
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  const int area = nx * ny;
  float below = 0;
  float here = in[y * nx + x];
  for (int z = 0; z < nz; ++z) {
    const float above = z + 1 < nz ? in[(z + 1) * area + y * nx + x] : 0.0f;
    __syncthreads();
    plane[ty][tx] = here;
    if (threadIdx.x == 0) plane[ty][0] = x > 0 ? in[z * area + y * nx + x - 1] : 0.0f;
    if (threadIdx.x == 15) plane[ty][17] = x + 1 < nx ? in[z * area + y * nx + x + 1] : 0.0f;
    if (threadIdx.y == 0) plane[0][tx] = y > 0 ? in[z * area + (y - 1) * nx + x] : 0.0f;
    if (threadIdx.y == 7) plane[9][tx] = y + 1 < ny ? in[z * area + (y + 1) * nx + x] : 0.0f;
    __syncthreads();
    if (x > 0 && x + 1 < nx && y > 0 && y + 1 < ny) {
      out[z * area + y * nx + x] =
          plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + above + below - 6 * here;
    }
    below = here;
    here = above;
  }
}
