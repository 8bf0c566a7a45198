// Contiguous bytes that begin within a sector, and the same work from the beginning of one.

//! problem | grid N/32,N/8 | block 32,8 | args img=random((N,N)), out=zeros((N,N)), w=N, h=N | N 64 8192
extern "C" __global__ void gamma_of_the_interior(const float* img, float* out, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
  if (x >= w - 1 || y >= h - 1) return;
  float v = img[y * w + x];  // <- unaligned
  out[y * w + x] = sqrtf(fabsf(v));  // <- unaligned
}
//! repaired
extern "C" __global__ void gamma_from_the_border(const float* img, float* out, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y + 1;
  if (x < 1 || x >= w - 1 || y >= h - 1) return;
  float v = img[y * w + x];
  out[y * w + x] = sqrtf(fabsf(v));
}

//! problem | grid N/8 | block 128 | args frames=random(N*256), keys=random(128), text=zeros(N*128) | N 16 1048576
extern "C" __global__ void decipher_frames(const unsigned char* frames, const unsigned char* keys, unsigned char* text) {
  enum { HEADER = 14, FRAME = 256 };
  unsigned char key = keys[threadIdx.x];
  for (int f = blockIdx.x * 8; f < blockIdx.x * 8 + 8; ++f) {
    const unsigned char* payload = frames + f * FRAME + HEADER;
    unsigned char c = payload[threadIdx.x];  // <- unaligned
    text[f * 128 + threadIdx.x] = c ^ key;
  }
}
//! repaired | layout other
extern "C" __global__ void decipher_padded(const unsigned char* frames, const unsigned char* keys, unsigned char* text) {
  enum { HEADER = 32, FRAME = 256 };
  unsigned char key = keys[threadIdx.x];
  for (int f = blockIdx.x * 8; f < blockIdx.x * 8 + 8; ++f) {
    const unsigned char* payload = frames + f * FRAME + HEADER;
    unsigned char c = payload[threadIdx.x];
    text[f * 128 + threadIdx.x] = c ^ key;
  }
}

//! problem | grid N | block 256 | args x=random(N*256), records=zeros(N*264) | N 8 262144
extern "C" __global__ void store_behind_a_count(const int* x, int* records) {
  int* mine = records + blockIdx.x * 257;
  if (threadIdx.x == 0) mine[0] = 256;
  mine[1 + threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x] + 1;  // <- unaligned
}
//! repaired | args x=random(N*256), records=zeros(N*256), counts=zeros(N) | layout other
extern "C" __global__ void store_beside_the_counts(const int* x, int* records, int* counts) {
  int* mine = records + blockIdx.x * 256;
  if (threadIdx.x == 0) counts[blockIdx.x] = 256;
  mine[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x] + 1;
}

//! problem | grid N/64 | block 32,8 | args rows=random(N*64), sums=zeros(N), pitch=40 | N 128 4194304
extern "C" __global__ void narrow_rows(const unsigned short* rows, unsigned* sums, int pitch) {
  for (int r = blockIdx.x * 64 + threadIdx.y; r < blockIdx.x * 64 + 64; r += 8) {
    unsigned v = rows[r * pitch + threadIdx.x];  // <- unaligned
    v = __reduce_add_sync(~0u, v);
    if (threadIdx.x == 0) sums[r] = v;
  }
}
//! repaired | args rows=random(N*64), sums=zeros(N), pitch=64 | layout other
extern "C" __global__ void narrow_padded_rows(const unsigned short* rows, unsigned* sums, int pitch) {
  for (int r = blockIdx.x * 64 + threadIdx.y; r < blockIdx.x * 64 + 64; r += 8) {
    unsigned v = rows[r * pitch + threadIdx.x];
    v = __reduce_add_sync(~0u, v);
    if (threadIdx.x == 0) sums[r] = v;
  }
}

//! problem | grid N/1024 | block 256 | args x=random(N), log=zeros(N+8), at=3 | N 4096 67108864
extern "C" __global__ void append(const float* __restrict__ x, float* __restrict__ log, int at)
{
    float* to = log + at;
    for (int i = blockIdx.x * 1024 + threadIdx.x, k = 0; k < 4; i += 256, ++k)
        to[i] = x[i];  // <- unaligned
}
//! repaired | args x=random(N), log=zeros(N+8), at=8 | layout other
extern "C" __global__ void append_at_a_sector(const float* __restrict__ x, float* __restrict__ log, int at)
{
    float* to = log + at;
    for (int i = blockIdx.x * 1024 + threadIdx.x, k = 0; k < 4; i += 256, ++k)
        to[i] = x[i];
}

//! problem | grid N/8 | block 32,8 | args x=random(N*128), out=zeros(N*136), pitch=129 | N 16 524288
extern "C" __global__ void widen_rows(const float* x, float* out, unsigned pitch) {
  unsigned row = blockIdx.x * 8 + threadIdx.y;
  #pragma unroll
  for (unsigned c = threadIdx.x; c < 128; c += 32)
    out[row * pitch + c] = x[row * 128 + c] - 1;  // <- unaligned
}
//! repaired | args x=random(N*128), out=zeros(N*136), pitch=136 | layout other
extern "C" __global__ void widen_rows_more(const float* x, float* out, unsigned pitch) {
  unsigned row = blockIdx.x * 8 + threadIdx.y;
  #pragma unroll
  for (unsigned c = threadIdx.x; c < 128; c += 32)
    out[row * pitch + c] = x[row * 128 + c] - 1;
}

//! clean | grid N/4 | block 32,4 | args m=random(N*264), sums=zeros(N), cols=256, pitch=257 | N 16 16
extern "C" __global__ void sum_pitched_rows(const float* m, float* sums, int cols, int pitch) {
  int row = blockIdx.x * 4 + threadIdx.y;
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    s += m[row * pitch + c];
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x == 0) sums[row] = s;
}

//! clean | grid N/256 | block 256 | args file=random(N+8), samples=zeros(N) | N 1024 1024
extern "C" __global__ void behind_a_header(const float* file, float* samples) {
  const float* body = file + 3;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  samples[i] = body[i] * 0.5f;
}

//! clean | grid N/128 | block 128 | args x=random(N+8), y=zeros(N), first=8 | N 512 512
extern "C" __global__ void from_a_sector(const float* x, float* y, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i + first];
}

//! clean | grid N/128 | block 128 | args u=random(N+2), v=zeros(N) | N 512 512
extern "C" __global__ void three_points(const float* u, float* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float west = u[i];
  float here = u[i + 1];
  float east = u[i + 2];
  v[i] = west - 2 * here + east;
}

//! clean | grid N/32-1,N/8-1 | block 32,8 | args T=random((N,N)), Tn=zeros((N,N)), nx=N, k=0.1 | N 64 64
extern "C" __global__ void heat(const double* T, double* Tn, int nx, double k) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y + 1;
  if (x == 0 || x == nx - 1) return;
  const double* c = T + y * nx + x;
  double s = c[0] * -4;
  s += c[-1];
  s += c[1];
  s += c[-nx];
  s += c[nx];
  Tn[y * nx + x] = c[0] + k * s;
}

//! clean | grid N/512 | block 128 | args x=random(N+4), y=zeros(N) | N 2048 2048
extern "C" __global__ void one_pack_later(const float4* x, float4* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i + 1];
}

//! clean | grid N | block 32 | args x=random(N*32), w=random(N+5), y=zeros(N*32) | N 8 8
extern "C" __global__ void one_word_each(const float* x, const float* w, float* y) {
  float scale = w[blockIdx.x + 5];
  y[blockIdx.x * 32 + threadIdx.x] = scale * x[blockIdx.x * 32 + threadIdx.x];
}

//! clean | grid N/256 | block 256 | args x=random(N+16), out=zeros(N) | N 1024 1024
extern "C" __global__ void moving_mean(const float* x, float* out) {
  __shared__ float s[256 + 16];
  for (int i = threadIdx.x; i < 272; i += 256) s[i] = x[blockIdx.x * 256 + i];
  __syncthreads();
  float m = 0;
  for (int k = 0; k < 16; k++) m += s[threadIdx.x + k];
  out[blockIdx.x * 256 + threadIdx.x] = m / 16;
}
