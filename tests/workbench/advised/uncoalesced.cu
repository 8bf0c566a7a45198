// Warps whose lanes are far apart in global memory, and the same work with neighbours together.

//! problem | grid N/32,N/8 | block 32,8 | args in=random((N,N)), out=zeros((N,N)), n=N | N 64 8192
extern "C" __global__ void transpose_naive(const float* in, float* out, int n) {
  int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  out[col * n + row] = in[row * n + col];  // <- uncoalesced
}
//! repaired | grid N/32,N/32
extern "C" __global__ void transpose_by_tile(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

//! problem | grid N/128 | block 128 | args m=random(N*64), sums=zeros(N) | N 256 524288 | close
extern "C" __global__ void thread_per_row(const float* m, float* sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.f;
  for (int c = 0; c < 64; ++c)
    s += m[row * 64 + c];  // <- uncoalesced
  sums[row] = s;
}
//! repaired | grid N/4
extern "C" __global__ void warp_per_row(const float* m, float* sums) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float s = m[row * 64 + lane] + m[row * 64 + 32 + lane];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (lane == 0) sums[row] = s;
}

struct Star { float x, y, z, brightness; };
//! problem | grid N/256 | block 256 | args stars=random(N*4, float32), out=zeros(N), gain=2.0 | N 1024 16777216
extern "C" __global__ void brightness_of_structs(const Star* stars, float* out, float gain) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = gain * stars[i].brightness;  // <- uncoalesced
}
//! repaired | args brightness=random(N), out=zeros(N), gain=2.0 | layout other
extern "C" __global__ void brightness_of_fields(const float* brightness, float* out, float gain) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = gain * brightness[i];
}

//! problem | grid N/16,N/16 | block 16,16 | args img=random((N,N)), res=zeros((N,N)), W=N, level=0.25 | N 64 8192
extern "C" __global__ void threshold_swapped(const float* __restrict__ img, float* __restrict__ res, int W, float level)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float v = img[x * W + y];  // <- uncoalesced
    res[x * W + y] = v > level ? v : 0.f;  // <- uncoalesced
}
//! repaired
extern "C" __global__ void threshold_along(const float* __restrict__ img, float* __restrict__ res, int W, float level)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float v = img[y * W + x];
    res[y * W + x] = v > level ? v : 0.f;
}

//! problem | grid N/1024 | block 256 | args x=random(N), y=random(N), a=3.0 | N 4096 67108864
extern "C" __global__ void axpy_in_runs(const float* x, float* y, float a) {
  int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  #pragma unroll
  for (int k = 0; k < 4; ++k)
    y[first + k] += a * x[first + k];  // <- uncoalesced
}
//! repaired
extern "C" __global__ void axpy_in_strides(const float* x, float* y, float a) {
  int first = blockIdx.x * 4 * blockDim.x + threadIdx.x;
  #pragma unroll
  for (int k = 0; k < 4; ++k)
    y[first + k * blockDim.x] += a * x[first + k * blockDim.x];
}

//! problem | grid N/128 | block 128 | args r=random(N), phi=random(N), z=zeros(2*N) | N 512 33554432
extern "C" __global__ void polar_in_halves(const float* r, const float* phi, float* z) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  z[2 * i] = r[i] * cosf(phi[i]);  // <- uncoalesced
  z[2 * i + 1] = r[i] * sinf(phi[i]);  // <- uncoalesced
}
//! repaired
extern "C" __global__ void polar_in_pairs(const float* r, const float* phi, float2* z) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  z[i] = make_float2(r[i] * cosf(phi[i]), r[i] * sinf(phi[i]));
}

//! problem | grid N/256 | block 256 | args p=random(N*8), mass=zeros(N) | N 512 8388608
extern "C" __global__ void one_of_eight(const double* p, double* mass) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0; k < 1; ++k)
    mass[i] = 2 * p[8 * i + 6];  // <- uncoalesced
}
//! repaired | args p=random(N), mass=zeros(N) | layout other
extern "C" __global__ void one_of_one(const double* p, double* mass) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0; k < 1; ++k)
    mass[i] = 2 * p[i];
}

//! clean | grid N/128 | block 128 | args z=random(2*N), magnitude=zeros(N) | N 512 512
extern "C" __global__ void power_of_halves(const float* z, float* magnitude) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  float re = z[2 * i];
  float im = z[2 * i + 1];
  magnitude[i] = re * re + im * im;
}
//! clean | grid N/256 | block 256 | args rgb=random(3*N), grey=zeros(N) | N 1024 1024
extern "C" __global__ void grey_of_pixels(const unsigned char* rgb, unsigned char* grey) {
  unsigned p = blockIdx.x * 256u + threadIdx.x;
  int sum = 77 * rgb[3 * p] + 150 * rgb[3 * p + 1] + 29 * rgb[3 * p + 2];
  grey[p] = sum >> 8;
}
//! clean | grid N/512 | block 128 | args src=random(N), dst=zeros(N) | N 2048 2048
extern "C" __global__ void copy_packs(const float4* src, float4* dst) {
  dst[blockIdx.x * blockDim.x + threadIdx.x] = src[blockIdx.x * blockDim.x + threadIdx.x];
}

//! clean | grid 4 | block 96 | args n=N, a=2.0, x=random(N), y=random(N) | N 1000 1000
extern "C" __global__ void saxpy_grid_stride(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

//! clean | grid N/16,N/16 | block 16,16 | args img=random((N,N)), out=zeros((N,N)), width=N | N 64 64
extern "C" __global__ void brighten(const float* img, float* out, int width) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * width + x] = fminf(1.f, img[y * width + x] * 1.2f);
}

//! clean | grid N | block 64 | args scale=random(N), x=random(N*64), y=zeros(N*64) | N 16 16
extern "C" __global__ void scale_rows(const float* scale, const float* x, float* y) {
  float s = scale[blockIdx.x];
  y[blockIdx.x * 64 + threadIdx.x] = s * x[blockIdx.x * 64 + threadIdx.x];
}

//! clean | grid N | block 32,4 | args x=random(N*256), bias=random(64), y=zeros(N*256) | N 8 8
extern "C" __global__ void add_bias_pairs(const float2* x, const float2* bias, float2* y) {
  int row = blockIdx.x * 4 + threadIdx.y;
  float2 v = x[row * 32 + threadIdx.x], b = bias[threadIdx.x];
  y[row * 32 + threadIdx.x] = make_float2(v.x + b.x, v.y + b.y);
}

//! clean | grid N/128 | block 128 | args x=random(N), y=zeros(N) | N 512 512
extern "C" __global__ void reversed(const double* x, double* y) {
  int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
  y[n - 1 - i] = x[i];
}

//! clean | grid N/256 | block 256 | args words=random(N), bits=zeros(N/32) | N 1024 1024
extern "C" __global__ void flags_to_bits(const int* words, unsigned* bits) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned mask = __ballot_sync(~0u, words[i] > 50);
  if ((threadIdx.x & 31) == 0) bits[i / 32] = mask;
}
