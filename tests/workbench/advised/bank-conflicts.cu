// Shared memory whose words lie in one bank, and the same work without that. advised.py says what the comments mean.

//! problem | grid N/32,N/32 | block 32,8 | args in=random((N,N)), out=zeros((N,N)), width=N | N 64 8192
extern "C" __global__ void transpose_tile(const float* in, float* out, int width) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];  // <- bank-conflicts
}
//! repaired
extern "C" __global__ void transpose_padded(const float* in, float* out, int width) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

#define EDGE 16
//! problem | grid N/EDGE,N/EDGE | block 16,16 | args src=random((N,N)), dst=zeros((N,N)), pitch=N | N 64 4096
extern "C" __global__ void rotate_plane(const double* __restrict__ src, double* __restrict__ dst, int pitch)
{
    __shared__ double plane[EDGE][EDGE];
    const int left = blockIdx.x * EDGE, top = blockIdx.y * EDGE;
    plane[threadIdx.y][threadIdx.x] = src[(top + threadIdx.y) * pitch + left + threadIdx.x];
    __syncthreads();
    const double v = plane[threadIdx.x][threadIdx.y];  // <- bank-conflicts
    dst[(left + threadIdx.y) * pitch + top + threadIdx.x] = v;
}
//! repaired
extern "C" __global__ void rotate_plane_apart(const double* __restrict__ src, double* __restrict__ dst, int pitch)
{
    __shared__ double plane[EDGE][EDGE + 1];
    const int left = blockIdx.x * EDGE, top = blockIdx.y * EDGE;
    plane[threadIdx.y][threadIdx.x] = src[(top + threadIdx.y) * pitch + left + threadIdx.x];
    __syncthreads();
    const double v = plane[threadIdx.x][threadIdx.y];
    dst[(left + threadIdx.y) * pitch + top + threadIdx.x] = v;
}

struct Particle { float px, py, pz, vx, vy, vz, mass, charge; };
//! problem | grid N | block 128 | args state=random(N*1024), energy=zeros(N*128), dt=0.5 | N 4 65536
extern "C" __global__ void drift_cell(const float* state, float* energy, float dt) {
  __shared__ Particle cell[128];
  for (int f = 0; f < 8; ++f)
    reinterpret_cast<float*>(cell)[f * 128 + threadIdx.x] = state[blockIdx.x * 1024 + f * 128 + threadIdx.x];
  __syncthreads();
  const Particle& p = cell[threadIdx.x];
  float e = p.mass * p.vx * p.vx + p.charge * (p.px + dt * p.py);  // <- bank-conflicts
  energy[blockIdx.x * 128 + threadIdx.x] = e;
}
//! repaired
extern "C" __global__ void drift_fields(const float* state, float* energy, float dt) {
  __shared__ float field[8][132];
  for (int f = 0; f < 8; ++f) {
    int e = f * 128 + threadIdx.x;
    field[e % 8][e / 8] = state[blockIdx.x * 1024 + e];
  }
  __syncthreads();
  int t = threadIdx.x;
  float e = field[6][t] * field[3][t] * field[3][t] + field[7][t] * (field[0][t] + dt * field[1][t]);
  energy[blockIdx.x * 128 + threadIdx.x] = e;
}

//! problem | grid N | block 256 | args g_in=random(N*256), g_out=zeros(N) | N 4 131072
extern "C" __global__ void reduce_interleaved(const int *g_in, int *g_out) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  s[t] = g_in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    unsigned k = 2 * step * t;
    if (k < 256) s[k] += s[k + step];  // <- bank-conflicts
    __syncthreads();
  }
  if (t == 0) g_out[blockIdx.x] = s[0];
}
//! repaired
extern "C" __global__ void reduce_sequential(const int *g_in, int *g_out) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  s[t] = g_in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned step = 128; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) g_out[blockIdx.x] = s[0];
}

constexpr int kCols = 32, kPitch = kCols + 1;
//! problem | grid N | block 64 | args m=random(N*2048), sums=zeros(N*64) | N 2 32768
extern "C" __global__ void sum_own_row(const float* m, float* sums) {
  __shared__ float rows[64 * kCols];
  for (int i = threadIdx.x; i < 64 * kCols; i += 64) rows[i] = m[blockIdx.x * 64 * kCols + i];
  __syncthreads();
  float total = 0.f;
  for (int c = 0; c < kCols; c++)
    total += rows[threadIdx.x * kCols + c];  // <- bank-conflicts
  sums[blockIdx.x * 64 + threadIdx.x] = total;
}
//! repaired
extern "C" __global__ void sum_own_padded_row(const float* m, float* sums) {
  __shared__ float rows[64 * kPitch];
  for (int i = threadIdx.x; i < 64 * kCols; i += 64)
    rows[i / kCols * kPitch + i % kCols] = m[blockIdx.x * 64 * kCols + i];
  __syncthreads();
  float total = 0.f;
  for (int c = 0; c < kCols; c++)
    total += rows[threadIdx.x * kPitch + c];
  sums[blockIdx.x * 64 + threadIdx.x] = total;
}

//! problem | grid N | block 64 | args symbols=random(N*4096), table=zeros(N*16) | N 2 16384
extern "C" __global__ void private_bins(const unsigned char* symbols, int* table) {
  __shared__ int bins[64 * 16];
  int tid = threadIdx.x;
  for (int b = 0; b < 16; ++b) bins[b * 64 + tid] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int b = symbols[blockIdx.x * 4096 + k * 64 + tid] & 15;
    bins[tid * 16 + b] += 1;  // <- bank-conflicts
  }
  __syncthreads();
  if (tid < 16) {
    int sum = 0;
    for (int k = 0; k < 64; ++k) sum += bins[((k + tid * 4) & 63) * 16 + tid];
    table[blockIdx.x * 16 + tid] = sum;
  }
}
//! repaired
extern "C" __global__ void private_bins_by_lane(const unsigned char* symbols, int* table) {
  __shared__ int bins[16 * 64];
  int tid = threadIdx.x;
  for (int b = 0; b < 16; ++b) bins[b * 64 + tid] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int b = symbols[blockIdx.x * 4096 + k * 64 + tid] & 15;
    bins[b * 64 + tid] += 1;
  }
  __syncthreads();
  if (tid < 16) {
    int sum = 0;
    for (int k = 0; k < 64; ++k) sum += bins[tid * 64 + ((k + tid) & 63)];
    table[blockIdx.x * 16 + tid] = sum;
  }
}

//! problem | grid N | block 32 | args a=random(N*1024), b=zeros(N*1024) | N 4 65536
extern "C" __global__ void turn_packs(const float4* a, float4* b) {
  __shared__ float4 stage[32][8];
  int lane = threadIdx.x;
  for (int k = 0; k < 8; k++) stage[k * 4 + lane / 8][lane % 8] = a[blockIdx.x * 256 + k * 32 + lane];
  __syncwarp();
  for (int k = 0; k < 8; k++) {
    float4 v = stage[lane][k];  // <- bank-conflicts
    b[blockIdx.x * 256 + k * 32 + lane] = make_float4(v.w, v.z, v.y, v.x);
  }
}
//! repaired
extern "C" __global__ void turn_padded_packs(const float4* a, float4* b) {
  __shared__ float4 stage[32][9];
  int lane = threadIdx.x;
  for (int k = 0; k < 8; k++) stage[k * 4 + lane / 8][lane % 8] = a[blockIdx.x * 256 + k * 32 + lane];
  __syncwarp();
  for (int k = 0; k < 8; k++) {
    float4 v = stage[lane][k];
    b[blockIdx.x * 256 + k * 32 + lane] = make_float4(v.w, v.z, v.y, v.x);
  }
}

//! clean | grid N | block 128 | args signal=random(N*128), taps=random(16), out=zeros(N*128) | N 4 4
extern "C" __global__ void broadcast_taps(const float* signal, const float* taps, float* out) {
  __shared__ float t[16];
  if (threadIdx.x < 16) t[threadIdx.x] = taps[threadIdx.x];
  __syncthreads();
  float v = signal[blockIdx.x * 128 + threadIdx.x], p = 1, sum = 0;
  for (int k = 0; k < 16; ++k, p *= v) sum += t[k] * p;
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}

//! clean | grid N | block 256 | args f=random(N*256), g=zeros(N*256), n=N*256 | N 4 4
extern "C" __global__ void halo_stencil(const float* f, float* g, int n) {
  __shared__ float s[256 + 2];
  int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 1;
  s[l] = f[i];
  if (threadIdx.x == 0) s[0] = i ? f[i - 1] : 0;
  if (threadIdx.x == 255) s[257] = i + 1 < n ? f[i + 1] : 0;
  __syncthreads();
  g[i] = s[l - 1] - 2 * s[l] + s[l + 1];
}

//! clean | grid N/16,N/16 | block 16,16 | args A=random((N,N)), B=random((N,N)), C=zeros((N,N)), n=N | N 32 32
extern "C" __global__ void product_tiles(const float* A, const float* B, float* C, int n) {
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

//! clean | grid N | block 32,32 | args x=random(N*1024), y=zeros(N*1024) | N 2 2
extern "C" __global__ void swizzled(const float* x, float* y) {
  __shared__ float t[32][32];
  int c = threadIdx.x, r = threadIdx.y;
  t[r][c ^ r] = x[blockIdx.x * 1024 + r * 32 + c];
  __syncthreads();
  y[blockIdx.x * 1024 + r * 32 + c] = t[c][r ^ c];
}

//! clean | grid N | block 64 | args rgb=random(N*192), luma=zeros(N*64) | N 4 4
extern "C" __global__ void three_words_apart(const float* rgb, float* luma) {
  __shared__ float px[192];
  for (int c = 0; c < 3; ++c) px[c * 64 + threadIdx.x] = rgb[blockIdx.x * 192 + c * 64 + threadIdx.x];
  __syncthreads();
  luma[blockIdx.x * 64 + threadIdx.x] =
      0.299f * px[3 * threadIdx.x] + 0.587f * px[3 * threadIdx.x + 1] + 0.114f * px[3 * threadIdx.x + 2];
}

//! clean | grid N | block 128 | args in=random(N*512), out=zeros(N*512) | N 4 4
extern "C" __global__ void mirrored_packs(const float4* in, float4* out) {
  __shared__ float4 line[128];
  line[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = line[127 - threadIdx.x];
}
