"""A kernel of each problem that the advice knows, and one of each without it."""

from __future__ import annotations

TRANSPOSE = """
extern "C" __global__ void transpose(const float* x, float* y, int n) {{
  __shared__ float tile[32][{width}];
  int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * n + col];
  __syncthreads();
  int c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(r + k) * n + c] = tile[threadIdx.x][threadIdx.y + k];
}}
"""
#: The same in one call of the compiler: columns, fields, rows that begin within a sector, reloads, atomics, branches.
OTHERS = """
extern "C" __global__ void columns(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[(i % n) * n + i / n];
}
extern "C" __global__ void fields(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[4 * i];
}
extern "C" __global__ void shifted(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i + n] = x[i];
}
extern "C" __global__ void reloads(const float* x, float* y, int n) {
  float sum = 0;
  for (int k = 0; k < n; k++) sum += x[k * 32 + threadIdx.x % 32];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void counts(const int* x, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[x[i] % n], 1);
}
extern "C" __global__ void branches(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (threadIdx.x % 32 < n) for (int k = 0; k < 64; k++) v = sinf(v);
  y[i] = v;
}
"""
