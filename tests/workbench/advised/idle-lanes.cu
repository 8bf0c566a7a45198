// Warps in which few lanes work, and the same work for whole warps.

//! problem | grid N | block 1 | args x=random(N), y=zeros(N) | N 256 1048576
extern "C" __global__ void one_thread_per_block(const float* x, float* y) {  // <- idle-lanes
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = expf(x[i]) + 1;
}
//! repaired | grid N/128 | block 128
extern "C" __global__ void many_threads_per_block(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = expf(x[i]) + 1;
}

//! problem | grid N/20 | block 20 | args x=random(N), y=zeros(N), n=N | N 640 20971520
extern "C" __global__ void twenty_threads(const float* x, float* y, int n) {  // <- idle-lanes
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]) * cosf(x[i]);
}
//! repaired | grid N/160 | block 160
extern "C" __global__ void whole_warps(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]) * cosf(x[i]);
}

//! problem | grid N/4,N/4 | block 4,4 | args a=random((N,N)), b=zeros((N,N)), w=N | N 32 2048
extern "C" __global__ void small_squares(const float* a, float* b, int w) {  // <- idle-lanes
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v = a[y * w + x];  // <- uncoalesced
  for (int k = 0; k < 8; ++k) v = v * v - 0.5f;
  b[y * w + x] = v;  // <- uncoalesced
}
//! repaired | grid N/32,N/4 | block 32,4
extern "C" __global__ void wide_squares(const float* a, float* b, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v = a[y * w + x];
  for (int k = 0; k < 8; ++k) v = v * v - 0.5f;
  b[y * w + x] = v;
}

//! problem | grid N | block 256 | args in=random(N*4096), out=zeros(N) | N 2 16384 | close
extern "C" __global__ void leader_adds(const float* in, float* out) {  // <- idle-lanes
  __shared__ float s[256];
  float v = 0;
  for (int k = threadIdx.x; k < 4096; k += 256) v += in[blockIdx.x * 4096 + k];
  s[threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int k = 0; k < 256; ++k) sum += s[k];
    out[blockIdx.x] = sum;
  }
}
//! repaired
extern "C" __global__ void warps_add(const float* in, float* out) {
  __shared__ float s[8];
  float v = 0;
  for (int k = threadIdx.x; k < 4096; k += 256) v += in[blockIdx.x * 4096 + k];
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

__device__ float slow(float v, float step) {
  #pragma unroll 1
  for (int k = 0; k < 64; ++k) v = sqrtf(v * v + step);
  return v;
}
//! problem | grid N/256 | block 256 | args x=random(N), y=zeros(N) | N 256 4194304
extern "C" __global__ void odd_and_even(const float* x, float* y) {  // <- idle-lanes
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (i % 2) v = slow(v, 1.f) * 3.f;
  else v = slow(v + 1.f, 2.f);
  y[i] = v;
}
//! repaired | layout other
extern "C" __global__ void odd_and_even_warps(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (i / 32 % 2) v = slow(v, 1.f) * 3.f;
  else v = slow(v + 1.f, 2.f);
  y[i] = v;
}

//! problem | grid N/64 | block 64 | args values=random(N), sums=zeros(N), n=N | N 128 1048576
extern "C" __global__ void rows_as_they_come(const float* values, float* sums, int n) {  // <- idle-lanes
  const int row = (blockIdx.x * 64 + threadIdx.x) * 37 & (n - 1);
  const int length = (row & 127) + 1;
  float sum = values[row];  // <- uncoalesced
  for (int k = 0; k < length; ++k) sum = sqrtf(sum * sum + k);
  sums[row] = sum;  // <- uncoalesced
}
//! repaired
extern "C" __global__ void rows_by_their_length(const float* values, float* sums, int n) {
  const int row = (blockIdx.x * 64 + threadIdx.x) / (n >> 7) + (blockIdx.x * 64 + threadIdx.x) % (n >> 7) * 128;
  const int length = (row & 127) + 1;
  float sum = values[row];
  for (int k = 0; k < length; ++k) sum = sqrtf(sum * sum + k);
  sums[row] = sum;
}

//! clean | grid N/128+1 | block 128 | args x=random(N), y=zeros(N), n=N | N 1000 1000
extern "C" __global__ void guarded(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] > 0 ? x[i] : 0.01f * x[i];
}

//! clean | grid N | block 256 | args x=random(N*256), y=zeros(N) | N 4 4
extern "C" __global__ void tree(const float* x, float* y) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}

//! clean | grid N | block 64 | args x=random(N*64), y=zeros(N*64) | N 8 8
extern "C" __global__ void branch_per_warp(const float* x, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 32) y[i] = slow(x[i], 1);
  else y[i] = -x[i];
}

//! clean | grid N/96 | block 96 | args x=random(N), y=zeros(N) | N 960 960
extern "C" __global__ void selected(const float* x, float* y) {
  int i = blockIdx.x * 96 + threadIdx.x;
  y[i] = i % 2 ? x[i] * 2 : x[i] * 3;
}

//! clean | grid N/32,N/8 | block 32,8 | args a=random((N,N)), b=zeros((N,N)), w=N | N 64 64
extern "C" __global__ void inner_laplace(const float* a, float* b, int w) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * w + x;
  if (x > 0 && x < w - 1 && y > 0 && y < w - 1) b[i] = a[i - 1] + a[i + 1] + a[i - w] + a[i + w] - 4 * a[i];
}

//! clean | grid N | block 32 | args x=random(N*32), first=zeros(N), y=zeros(N*32) | N 8 8
extern "C" __global__ void leader_writes(const float* x, float* first, float* y) {
  float v = x[blockIdx.x * 32 + threadIdx.x], most = v;
  for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x == 0) first[blockIdx.x] = most;
  y[blockIdx.x * 32 + threadIdx.x] = v / most;
}
