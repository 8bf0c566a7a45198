// Blocks that load the same sectors again and again, and the same work with each sector loaded once.

//! problem | grid N/16,N/16 | block 16,16 | args a=random((N,N)), b=random((N,N)), c=zeros((N,N)), n=N | N 32 2048
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum += a[row * n + k] * b[k * n + col];  // <- reloads
  c[row * n + col] = sum;
}
//! repaired
extern "C" __global__ void product_in_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float s[16][16], t[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    s[y][x] = a[row * n + k + x];
    t[y][x] = b[(k + y) * n + col];
    __syncthreads();
    #pragma unroll
    for (int j = 0; j < 16; j++) sum += s[y][j] * t[j][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

#define RADIUS 8
//! problem | grid N/256 | block 256 | args in=random(N+16), out=zeros(N) | N 1024 67108864
extern "C" __global__ void box_filter(const float* in, float* out) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k <= 2 * RADIUS; ++k)
    sum += in[i + k];  // <- reloads
  out[i] = sum / (2 * RADIUS + 1);
}
//! repaired
extern "C" __global__ void box_filter_with_halo(const float* in, float* out) {
  __shared__ float s[256 + 2 * RADIUS];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = in[i];
  if (threadIdx.x < 2 * RADIUS) s[256 + threadIdx.x] = in[i + 256];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 2 * RADIUS; ++k)
    sum += s[threadIdx.x + k];
  out[i] = sum / (2 * RADIUS + 1);
}

__device__ __forceinline__ void pull(float3& acc, float4 me, float4 other) {
  float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
  float s = other.w * inv * inv * inv;
  acc.x += dx * s, acc.y += dy * s, acc.z += dz * s;
}
//! problem | grid N/128 | block 128 | args body=random(N*4), acc=zeros(N*3, float32), n=N | N 256 32768
extern "C" __global__ void gravity(const float4* body, float3* acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = body[i];
  float3 a = make_float3(0, 0, 0);
  for (int j = 0; j < n; ++j) {
    float4 other = body[j];  // <- reloads
    pull(a, me, other);
  }
  acc[i] = a;  // <- uncoalesced
}
//! repaired
extern "C" __global__ void gravity_in_tiles(const float4* body, float3* acc, int n) {
  __shared__ float4 tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = body[i];
  float3 a = make_float3(0, 0, 0);
  for (int j = 0; j < n; j += 128) {
    tile[threadIdx.x] = body[j + threadIdx.x];
    __syncthreads();
    #pragma unroll 8
    for (int k = 0; k < 128; ++k) pull(a, me, tile[k]);
    __syncthreads();
  }
  acc[i] = a;  // <- uncoalesced
}

//! problem | grid N/32,N/8 | block 32,8 | args img=random((N+4,N+32)), out=zeros((N,N)), w=N | N 32 8192 | close
extern "C" __global__ void blur5(const float* __restrict__ img, float* __restrict__ out, int w) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, pitch = w + 32;
  float total = 0.0f;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i)
      total += img[(y + j) * pitch + x + i];  // <- reloads
  out[y * w + x] = total * 0.04f;
}
//! repaired | grid N/32,N/32
extern "C" __global__ void blur5_in_registers(const float* __restrict__ img, float* __restrict__ out, int w) {
  const int x = blockIdx.x * 32 + threadIdx.x, y0 = (blockIdx.y * 8 + threadIdx.y) * 4, pitch = w + 32;
  float row[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) {
    const float* here = img + (y0 + j) * pitch + x;
    row[j] = here[0] + here[1] + here[2] + here[3] + here[4];  // <- reloads
  }
  #pragma unroll
  for (int j = 0; j < 4; ++j)
    out[(y0 + j) * w + x] = (row[j] + row[j + 1] + row[j + 2] + row[j + 3] + row[j + 4]) * 0.04f;
}

//! problem | grid N/128 | block 128 | args rate=random(64), x=random(N), y=zeros(N) | N 512 4194304
extern "C" __global__ void decay_in_place(const float* rate, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 1;
  for (int step = 0; step < 64; ++step)
    y[i] = y[i] * 0.9f + rate[step] * x[i];  // <- reloads
}
//! repaired
extern "C" __global__ void decay_in_a_register(const float* __restrict__ rate, const float* x, float* y) {
  __shared__ float r[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 64) r[threadIdx.x] = rate[threadIdx.x];
  __syncthreads();
  float v = 1, mine = x[i];
  for (int step = 0; step < 64; ++step)
    v = v * 0.9f + r[step] * mine;
  y[i] = v;
}

//! problem | grid N | block 64 | args points=random(N*128), centre=random(512), nearest=zeros(N*64) | N 4 65536
extern "C" __global__ void assign_clusters(const float2* points, const float* centre, int* nearest) {
  int p = blockIdx.x * 64 + threadIdx.x, best = 0;
  float2 me = points[p];
  float least = 1e30f;
  for (int c = 0; c < 256; c++) {
    float dx = centre[c] - me.x;  // <- reloads
    float dy = centre[256 + c] - me.y;  // <- reloads
    float d = dx * dx + dy * dy;
    if (d < least) least = d, best = c;
  }
  nearest[p] = best;
}
//! repaired
extern "C" __global__ void assign_shared_clusters(const float2* points, const float* centre, int* nearest) {
  __shared__ float cx[256], cy[256];
  for (int c = threadIdx.x; c < 256; c += 64) cx[c] = centre[c], cy[c] = centre[256 + c];
  __syncthreads();
  int p = blockIdx.x * 64 + threadIdx.x, best = 0;
  float2 me = points[p];
  float least = 1e30f;
  for (int c = 0; c < 256; c++) {
    float dx = cx[c] - me.x, dy = cy[c] - me.y, d = dx * dx + dy * dy;
    if (d < least) least = d, best = c;
  }
  nearest[p] = best;
}

//! clean | grid N/256 | block 256 | args x=random(N), bias=random(1), y=zeros(N) | N 1024 1024
extern "C" __global__ void add_one_bias(const float* x, const float* bias, float* y) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[i] + bias[0];
}

//! clean | grid N/8 | block 32,8 | args x=random(N*32), gain=random(32), y=zeros(N*32) | N 64 64
extern "C" __global__ void scale_columns(const float* x, const float* gain, float* y) {
  int row = blockIdx.x * 8 + threadIdx.y;
  y[row * 32 + threadIdx.x] = x[row * 32 + threadIdx.x] * gain[threadIdx.x];
}

//! clean | grid N/16,N/16 | block 16,16 | args A=random((N,N)), B=random((N,N)), C=zeros((N,N)), n=N | N 32 32
extern "C" __global__ void gemm16(const float* A, const float* B, float* C, int n) {
  __shared__ float As[16][16], Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float acc = 0;
  for (int t = 0; t < n; t += 16) {
    As[ty][tx] = A[row * n + t + tx];
    Bs[ty][tx] = B[(t + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = acc;
}

//! clean | grid N | block 128 | args x=random(N*512), y=zeros(N*512) | N 4 4
extern "C" __global__ void two_passes(const float* x, float* y) {
  const float* row = x + blockIdx.x * 512;
  float most = -1e30f;
  for (int c = threadIdx.x; c < 512; c += 128) most = fmaxf(most, row[c]);
  for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  for (int c = threadIdx.x; c < 512; c += 128) y[blockIdx.x * 512 + c] = row[c] - most;
}

//! clean | grid 2 | block 128 | args x=random(N), out=zeros(2), n=N | N 4096 4096
extern "C" __global__ void partial_sums(const float* x, float* out, int n) {
  __shared__ float warps[4];
  float s = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) s += x[i];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
}

__constant__ float weight[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
//! clean | grid N/64 | block 64 | args x=random(N*9), y=zeros(N) | N 256 256
extern "C" __global__ void weights_of_the_constant_bank(const float* x, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  float s = 0;
  for (int k = 0; k < 9; k++) s += weight[k] * x[k * n + i];
  y[i] = s;
}
