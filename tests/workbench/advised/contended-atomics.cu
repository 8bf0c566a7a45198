// Atomics whose lanes take turns, and the same sums where they do not.

//! problem | grid N/256 | block 256 | args x=random(N), total=zeros(1) | N 1024 16777216 | close
extern "C" __global__ void sum_all(const float* x, float* total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(total, x[i]);  // <- contended-atomics
}
//! repaired
extern "C" __global__ void sum_by_warps(const float* x, float* total) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}

//! problem | grid N/256 | block 256 | args pixels=random(N), hist=zeros(16) | N 1024 16777216
extern "C" __global__ void histogram_in_global(const unsigned char* pixels, unsigned* hist) {
  atomicAdd(&hist[pixels[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1u);  // <- contended-atomics
}
//! repaired
extern "C" __global__ void histogram_in_shared(const unsigned char* pixels, unsigned* hist) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&local[pixels[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&hist[threadIdx.x], local[threadIdx.x]);
}

//! problem | grid N | block 128 | args key=random(N*1024), w=random(N*1024), out=zeros(N*4) | N 2 16384 | close
extern "C" __global__ void weigh_classes(const int* key, const float* w, float* out) {
  __shared__ float acc[4];
  if (threadIdx.x < 4) acc[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 128)
    atomicAdd(&acc[key[blockIdx.x * 1024 + k] & 3], w[blockIdx.x * 1024 + k]);  // <- contended-atomics
  __syncthreads();
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = acc[threadIdx.x];
}
//! repaired
extern "C" __global__ void weigh_classes_per_lane(const int* key, const float* w, float* out) {
  __shared__ float acc[4][32];
  acc[threadIdx.x / 32][threadIdx.x % 32] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 128)
    atomicAdd(&acc[key[blockIdx.x * 1024 + k] & 3][threadIdx.x % 32], w[blockIdx.x * 1024 + k]);
  __syncthreads();
  float v = acc[threadIdx.x / 32][threadIdx.x % 32];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) out[blockIdx.x * 4 + threadIdx.x / 32] = v;
}

//! problem | grid N/128 | block 128 | args at=arange(N), push=random(N), force=zeros(N*4, float32) | N 256 4194304
extern "C" __global__ void push_structs(const int* at, const float* push, float4* force) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, p = at[i];
  float f = push[i];
  atomicAdd(&force[p].x, f);  // <- contended-atomics
  atomicAdd(&force[p].y, 2 * f);  // <- contended-atomics
  atomicAdd(&force[p].z, 3 * f);  // <- contended-atomics
}
//! repaired | args at=arange(N), push=random(N), fx=zeros(N), fy=zeros(N), fz=zeros(N) | layout other
extern "C" __global__ void push_fields(const int* at, const float* push, float* fx, float* fy, float* fz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, p = at[i];
  float f = push[i];
  atomicAdd(&fx[p], f);
  atomicAdd(&fy[p], 2 * f);
  atomicAdd(&fz[p], 3 * f);
}

//! problem | grid N/256 | block 256 | args v=random(N), most=zeros(N/16) | N 512 16777216
extern "C" __global__ void most_of_each_segment(const int* v, int* most)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    atomicMax(most + i / 16, v[i]);  // <- contended-atomics
}
//! repaired
extern "C" __global__ void most_of_each_half_warp(const int* v, int* most)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    int m = v[i];
    for (int d = 8; d; d >>= 1) m = max(m, __shfl_xor_sync(~0u, m, d));
    if (i % 16 == 0) atomicMax(most + i / 16, m);
}

//! problem | grid N | block 256 | args v=random(N*4096), sums=zeros(N*4) | N 1 8192
extern "C" __global__ void add_by_remainder(const int* v, int* sums) {
  __shared__ int s[4];
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) {
    int x = v[blockIdx.x * 4096 + k];
    atomicAdd(&s[x % 4], x);  // <- contended-atomics
  }
  __syncthreads();
  if (threadIdx.x < 4) sums[blockIdx.x * 4 + threadIdx.x] = s[threadIdx.x];
}
//! repaired
extern "C" __global__ void add_by_remainder_per_lane(const int* v, int* sums) {
  __shared__ int s[4 * 32];
  if (threadIdx.x < 128) s[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) {
    int x = v[blockIdx.x * 4096 + k];
    atomicAdd(&s[x % 4 * 32 + threadIdx.x % 32], x);
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    int sum = __reduce_add_sync(~0u, s[threadIdx.x]);
    if (threadIdx.x % 32 == 0) sums[blockIdx.x * 4 + threadIdx.x / 32] = sum;
  }
}

//! clean | grid N/128 | block 128 | args x=random(N), y=zeros(N) | N 512 512
extern "C" __global__ void add_in_order(const float* x, float* y) {
  int i = blockIdx.x * 128 + threadIdx.x;
  atomicAdd(&y[i], x[i]);
}

//! clean | grid N/256 | block 256 | args x=random(N), count=zeros(1) | N 1024 1024
extern "C" __global__ void count_large(const int* x, int* count) {
  if (x[blockIdx.x * 256 + threadIdx.x] > 50) atomicAdd(count, 1);
}

//! clean | grid N | block 128 | args x=random(N*128), y=zeros(1) | N 8 8
extern "C" __global__ void one_per_block(const float* x, float* y) {
  __shared__ float w[4];
  float v = x[blockIdx.x * 128 + threadIdx.x];
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(y, w[0] + w[1] + w[2] + w[3]);
}

//! clean | grid N | block 256 | args bytes=random(N*1024), hist=zeros(256) | N 2 2
extern "C" __global__ void byte_histogram(const unsigned char* bytes, int* hist) {
  __shared__ int h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) atomicAdd(&h[bytes[blockIdx.x * 1024 + k * 256 + threadIdx.x] * 2], 1);
  __syncthreads();
  if (h[threadIdx.x]) atomicAdd(&hist[threadIdx.x], h[threadIdx.x]);
}

//! clean | grid N/128 | block 128 | args x=random(N), kept=zeros(N), n=zeros(1) | N 512 512
extern "C" __global__ void keep_large(const int* x, int* kept, int* n) {
  int v = x[blockIdx.x * 128 + threadIdx.x], lane = threadIdx.x % 32, at = 0;
  unsigned votes = __ballot_sync(~0u, v > 70);
  if (lane == 0) at = atomicAdd(n, __popc(votes));
  at = __shfl_sync(~0u, at, 0);
  if (v > 70) kept[at + __popc(votes & ((1u << lane) - 1))] = v;
}

//! clean | grid N | block 64 | args done=zeros(1), x=random(N*64), y=zeros(N*64) | N 8 8
extern "C" __global__ void ticket(unsigned* done, const float* x, float* y) {
  y[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __threadfence();
  if (threadIdx.x == 0) atomicInc(done, gridDim.x - 1);
}
