// Threads with more live values than registers, and the same work in the registers that there are.

template <int COUNT>
__device__ __forceinline__ float mix(const float* x, int i, int n) {
  float v[COUNT];
  #pragma unroll
  for (int k = 0; k < COUNT; ++k) v[k] = x[k * n + i];
  #pragma unroll
  for (int r = 0; r < 3; ++r)
    #pragma unroll
    for (int k = 0; k < COUNT; ++k) v[k] = v[k] * v[(k + 7 * r + 1) % COUNT] + 0.5f;
  float sum = 0;
  #pragma unroll
  for (int k = 0; k < COUNT; ++k) sum += v[k];
  return sum;
}
//! problem | grid N/256 | block 256 | args x=random(N*48), y=zeros(N), n=N | N 256 1048576
extern "C" __global__ void __launch_bounds__(256, 8) mix_in_32_registers(const float* x, float* y, int n) {  // <- spills
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = mix<48>(x, i, n);
}
//! repaired
extern "C" __global__ void __launch_bounds__(256) mix_in_any_registers(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = mix<48>(x, i, n);
}

template <int M>
__device__ __forceinline__ void outer(const float* a, const float* b, float* c, int depth) {
  __shared__ float s[8][16 * M], t[8][16 * M];
  float acc[M][M] = {}, u[M], v[M];
  int tid = threadIdx.x, x = tid % 16, y = tid / 16, width = gridDim.x * 16 * M;
  for (int k = 0; k < depth; k += 8) {
    for (int e = tid; e < 8 * 16 * M; e += 256) {
      s[e / (16 * M)][e % (16 * M)] = a[(k + e / (16 * M)) * width + blockIdx.y * 16 * M + e % (16 * M)];
      t[e / (16 * M)][e % (16 * M)] = b[(k + e / (16 * M)) * width + blockIdx.x * 16 * M + e % (16 * M)];
    }
    __syncthreads();
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int m = 0; m < M; ++m) u[m] = s[j][y + 16 * m], v[m] = t[j][x + 16 * m];
      #pragma unroll
      for (int p = 0; p < M; ++p)
        #pragma unroll
        for (int q = 0; q < M; ++q) acc[p][q] += u[p] * v[q];
    }
    __syncthreads();
  }
  #pragma unroll
  for (int p = 0; p < M; ++p)
    #pragma unroll
    for (int q = 0; q < M; ++q)
      c[(blockIdx.y * 16 * M + y + 16 * p) * width + blockIdx.x * 16 * M + x + 16 * q] = acc[p][q];
}
//! problem | grid N/128,N/128 | block 256 | args a=random((N,N)), b=random((N,N)), c=zeros((N,N)), depth=N/16 | N 128 4096
extern "C" __global__ void __launch_bounds__(256, 4) outer8_in_64(const float* a, const float* b, float* c, int depth) {  // <- spills
  outer<8>(a, b, c, depth);
}
//! repaired
extern "C" __global__ void __launch_bounds__(256, 2) outer8_in_128(const float* a, const float* b, float* c, int depth) {
  outer<8>(a, b, c, depth);
}

//! problem | grid N/1024 | block 1024 | args x=random(N+80), taps=random(80), y=zeros(N*16) | N 1024 1048576
extern "C" __global__ void __launch_bounds__(1024) filter_in_registers(const float* x, const float* taps, float* y) {  // <- spills
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  float w[80];
  #pragma unroll
  for (int k = 0; k < 80; ++k) w[k] = x[i + k];  // <- reloads
  #pragma unroll 1
  for (int r = 0; r < 16; ++r) {
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < 80; ++k) sum += w[k] * taps[k], w[k] *= 0.9f;  // <- reloads
    y[r * n + i] = sum;
  }
}
//! repaired | grid N/256 | block 256
extern "C" __global__ void __launch_bounds__(256) filter_in_smaller_blocks(const float* x, const float* taps, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  float w[80];
  #pragma unroll
  for (int k = 0; k < 80; ++k) w[k] = x[i + k];  // <- reloads
  #pragma unroll 1
  for (int r = 0; r < 16; ++r) {
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < 80; ++k) sum += w[k] * taps[k], w[k] *= 0.9f;  // <- reloads
    y[r * n + i] = sum;
  }
}

__device__ __forceinline__ void butterfly(double& ar, double& ai, double& br, double& bi, double c, double s) {
  double tr = br * c - bi * s, ti = br * s + bi * c;
  br = ar - tr, bi = ai - ti, ar += tr, ai += ti;
}
__device__ __forceinline__ void transform16(const double2* x, double2* y, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  double re[16], im[16];
  #pragma unroll
  for (int k = 0; k < 16; ++k) re[k] = x[k * n + i].x, im[k] = x[k * n + i].y;
  #pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    #pragma unroll
    for (int h = 1; h < 16; h *= 2)
      #pragma unroll
      for (int k = 0; k < 16; ++k)
        if (!(k & h)) butterfly(re[k], im[k], re[k + h], im[k + h], 0.7 - 0.01 * k, 0.7 + 0.01 * h);
  }
  #pragma unroll
  for (int k = 0; k < 16; ++k) y[k * n + i] = make_double2(re[k], im[k]);
}
//! problem | grid N/128 | block 128 | args x=random(N*32), y=zeros(N*32), rounds=8 | N 128 1048576
extern "C" __global__ void __launch_bounds__(128, 10) transform_in_48(const double2* x, double2* y, int rounds) {  // <- spills
  transform16(x, y, rounds);
}
//! repaired
extern "C" __global__ void __launch_bounds__(128, 4) transform_in_128(const double2* x, double2* y, int rounds) {
  transform16(x, y, rounds);
}

//! problem | grid N/256 | block 256 | args keys=random(N*48), out=zeros(N*48) | N 256 524288
extern "C" __global__ void __launch_bounds__(256, 6) sort48(const int* keys, int* out) {  // <- spills
  int i = blockIdx.x * 256 + threadIdx.x, n = gridDim.x * 256;
  int v[48];
  #pragma unroll
  for (int k = 0; k < 48; ++k) v[k] = keys[k * n + i];
  #pragma unroll 1
  for (int r = 0; r < 24; ++r) {
    #pragma unroll
    for (int k = 0; k < 47; k += 2) { int low = min(v[k], v[k + 1]); v[k + 1] = max(v[k], v[k + 1]); v[k] = low; }
    #pragma unroll
    for (int k = 1; k < 47; k += 2) { int low = min(v[k], v[k + 1]); v[k + 1] = max(v[k], v[k + 1]); v[k] = low; }
  }
  #pragma unroll
  for (int k = 0; k < 48; ++k) out[k * n + i] = v[k];
}
//! repaired
extern "C" __global__ void __launch_bounds__(256, 2) sort48_in_128(const int* keys, int* out) {
  int i = blockIdx.x * 256 + threadIdx.x, n = gridDim.x * 256;
  int v[48];
  #pragma unroll
  for (int k = 0; k < 48; ++k) v[k] = keys[k * n + i];
  #pragma unroll 1
  for (int r = 0; r < 24; ++r) {
    #pragma unroll
    for (int k = 0; k < 47; k += 2) { int low = min(v[k], v[k + 1]); v[k + 1] = max(v[k], v[k + 1]); v[k] = low; }
    #pragma unroll
    for (int k = 1; k < 47; k += 2) { int low = min(v[k], v[k + 1]); v[k + 1] = max(v[k], v[k + 1]); v[k] = low; }
  }
  #pragma unroll
  for (int k = 0; k < 48; ++k) out[k * n + i] = v[k];
}

//! clean | grid N/128 | block 128 | args x=random(N), y=zeros(N) | N 256 256
extern "C" __global__ void few_values(const float* x, float* y) {
  int i = blockIdx.x * 128 + threadIdx.x;
  y[i] = x[i] * x[i] + 1;
}

//! clean | grid N/64 | block 64 | args x=random(N*8), pick=random(N), y=zeros(N) | N 128 128
extern "C" __global__ void indexed_locals(const float* x, const int* pick, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  float v[8];
  for (int k = 0; k < 8; ++k) v[k] = x[k * n + i];
  y[i] = v[pick[i] & 7];
}

//! clean | grid N/64 | block 64 | args x=random(N*48), y=zeros(N), n=N | N 128 128
extern "C" __global__ void many_registers(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = mix<48>(x, i, n);
}

//! clean | grid N/256 | block 256 | args x=random(N*16), y=zeros(N), n=N | N 256 256
extern "C" __global__ void __launch_bounds__(256, 4) sixteen_in_64(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = mix<16>(x, i, n);
}

//! clean | grid N/512 | block 512 | args x=random(N), y=zeros(N) | N 1024 1024
extern "C" __global__ void __launch_bounds__(512, 2) long_loop(const float* x, float* y) {
  int i = blockIdx.x * 512 + threadIdx.x;
  float v = x[i];
  for (int k = 0; k < 100; ++k) v = v * 0.99f + 0.01f;
  y[i] = v;
}
