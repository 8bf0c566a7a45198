// Launches of which an SM holds few warps, and the same work with more of them.

//! problem | grid N/128 | block 128 | smem 98304 | args x=random(N), y=zeros(N), n=N | N 1024 33554432
extern "C" __global__ void large_scratch(const float* x, float* y, int n) {  // <- low-occupancy
  extern __shared__ float scratch[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = scratch[threadIdx.x ^ 1];
}
//! repaired | smem 512
extern "C" __global__ void fitting_scratch(const float* x, float* y, int n) {
  extern __shared__ float scratch[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = scratch[threadIdx.x ^ 1];
}

//! problem | grid N/4096 | block 64 | args lut=random(8192), codes=random(N), out=zeros(N) | N 8192 33554432
extern "C" __global__ void decode_small_blocks(const float* lut, const unsigned short* codes, float* out) {  // <- low-occupancy
  __shared__ float table[8192];
  for (int k = threadIdx.x; k < 8192; k += 64) table[k] = lut[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 64) {
    int i = blockIdx.x * 4096 + k;
    out[i] = table[codes[i] & 8191];  // <- bank-conflicts
  }
}
//! repaired | block 512
extern "C" __global__ void decode_large_blocks(const float* lut, const unsigned short* codes, float* out) {
  __shared__ float table[8192];
  for (int k = threadIdx.x; k < 8192; k += 512) table[k] = lut[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 512) {
    int i = blockIdx.x * 4096 + k;
    out[i] = table[codes[i] & 8191];  // <- bank-conflicts
  }
}

//! problem | grid N | block 32 | args in=random(N*1024), out=zeros(N*1024) | N 2 32768
extern "C" __global__ void own_16_kilobytes(const float* in, float* out) {  // <- low-occupancy
  __shared__ volatile float rows[128][32];
  int lane = threadIdx.x;
  for (int k = 0; k < 32; ++k) {
    rows[4 * k][lane] = in[blockIdx.x * 1024 + k * 32 + lane];
    __syncwarp();
    out[blockIdx.x * 1024 + k * 32 + lane] = 2 * rows[4 * k][31 - lane];
  }
}
//! repaired
extern "C" __global__ void own_4_kilobytes(const float* in, float* out) {
  __shared__ volatile float rows[32][32];
  int lane = threadIdx.x;
  for (int k = 0; k < 32; ++k) {
    rows[k][lane] = in[blockIdx.x * 1024 + k * 32 + lane];
    __syncwarp();
    out[blockIdx.x * 1024 + k * 32 + lane] = 2 * rows[k][31 - lane];
  }
}

template <int STAGES>
__device__ __forceinline__ void ring(const float4* x, float4* y, int n) {
  __shared__ float4 stage[STAGES][64];
  int per = n / gridDim.x, first = blockIdx.x * per;
  for (int k = 0; k < per; k += 64) {
    float4 v = x[first + k + threadIdx.x];
    stage[k / 64 % STAGES][threadIdx.x] = v;
    __syncthreads();
    y[first + k + threadIdx.x] = stage[k / 64 % STAGES][63 - threadIdx.x];
  }
}
//! problem | grid 1056 | block 64 | args x=random(N*4*1056), y=zeros(N*4*1056), n=N*1056 | N 64 16384
extern "C" __global__ void ring_of_40(const float4* x, float4* y, int n) {  // <- low-occupancy
  ring<40>(x, y, n);
}
//! repaired
extern "C" __global__ void ring_of_2(const float4* x, float4* y, int n) {
  ring<2>(x, y, n);
}

template <int LIVE>
__device__ __noinline__ float rare(const float* x, float v) {
  float s[LIVE];
  #pragma unroll
  for (int k = 0; k < LIVE; ++k) s[k] = x[k] * v;
  #pragma unroll 1
  for (int r = 0; r < 4; ++r)
    #pragma unroll
    for (int k = 0; k < LIVE; ++k) s[k] = s[k] * s[(k + 5) % LIVE] + v;
  float sum = 0;
  #pragma unroll
  for (int k = 0; k < LIVE; ++k) sum += s[k];
  return sum;
}
//! problem | grid N/256 | block 256 | args x=random(N), y=zeros(N) | N 512 33554432
extern "C" __global__ void rare_path_with_many_registers(const float* x, float* y) {  // <- low-occupancy
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = x[i];
  y[i] = v > 1e30f ? rare<160>(x, v) : v * 2;
}
//! repaired
extern "C" __global__ void rare_path_with_few_registers(const float* x, float* y) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = x[i];
  y[i] = v > 1e30f ? rare<16>(x, v) : v * 2;
}

//! problem | grid N/32,N/2 | block 32,2 | args img=random((N,N)), out=zeros((N,N)), w=N | N 64 4096
extern "C" __global__ void tall_window(const float* img, float* out, int w) {  // <- low-occupancy
  __shared__ float win[256][40];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 2 + threadIdx.y;
  win[threadIdx.y * 128][threadIdx.x] = img[y * w + x];
  __syncthreads();
  out[y * w + x] = win[threadIdx.y * 128][31 - threadIdx.x];
}
//! repaired
extern "C" __global__ void low_window(const float* img, float* out, int w) {
  __shared__ float win[2][40];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 2 + threadIdx.y;
  win[threadIdx.y][threadIdx.x] = img[y * w + x];
  __syncthreads();
  out[y * w + x] = win[threadIdx.y][31 - threadIdx.x];
}

//! clean | grid N/256 | block 256 | args x=random(N), y=zeros(N) | N 512 512
extern "C" __global__ void plain(const float* x, float* y) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[i] + 1;
}

//! clean | grid N | block 1024 | args x=random(N*1024), y=zeros(N*1024) | N 2 2
extern "C" __global__ void one_large_block(const float* x, float* y) {
  __shared__ float s[12 * 1024];
  s[threadIdx.x] = x[blockIdx.x * 1024 + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 1024 + threadIdx.x] = s[1023 - threadIdx.x];
}

//! clean | grid N | block 32 | args x=random(N*32), y=zeros(N*32) | N 8 8
extern "C" __global__ void blocks_of_one_warp(const float* x, float* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  y[i] = x[i] * 3;
}

//! clean | grid N/128 | block 128 | smem 16384 | args x=random(N), y=zeros(N) | N 512 512
extern "C" __global__ void sixteen_kilobytes(const float* x, float* y) {
  extern __shared__ float buffer[];
  int i = blockIdx.x * 128 + threadIdx.x;
  buffer[threadIdx.x] = x[i];
  __syncwarp();
  y[i] = buffer[threadIdx.x ^ 31];
}

//! clean | grid N/256 | block 256 | args x=random(N*48), y=zeros(N), n=N | N 256 256
extern "C" __global__ void __launch_bounds__(256, 2) hundred_registers(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float v[48], sum = 0;
  #pragma unroll
  for (int k = 0; k < 48; ++k) v[k] = x[k * n + i];
  #pragma unroll
  for (int k = 0; k < 48; ++k) sum += v[k] * v[47 - k];
  y[i] = sum;
}
