// Elements of global memory: each thread has its own, or a barrier or an atomic orders the threads that share one.
typedef unsigned char u8;
typedef unsigned long long u64;
#include <cuda_fp16.h>

// == add_vectors
extern "C" __global__ void add_vectors(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// == scale_in_place
extern "C" __global__ void scale_in_place(float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float value = c[i];
    c[i] = 2 * value;
  }
}

// == stencil_of_two_arrays
extern "C" __global__ void stencil_of_two_arrays(const float* a, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  float sum = a[i - 1] + a[i] + a[i + 1];
  c[i] = sum / 3;
}

// == neighbouring_bytes
extern "C" __global__ void neighbouring_bytes(const u8* a, u8* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] ^ 0x55;
}

// == neighbouring_halves
extern "C" __global__ void neighbouring_halves(__half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __hadd(c[i], c[i]);
}

// == vectors_of_four
extern "C" __global__ void vectors_of_four(const float4* a, float4* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = a[i];
  c[i] = make_float4(v.w, v.z, v.y, v.x);
}

// == parts_of_vectors
extern "C" __global__ void parts_of_vectors(float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 v = reinterpret_cast<float2*>(c)[i];
  c[2 * i] = v.y;
  c[2 * i + 1] = v.x;
}

// == doubles_of_rows
extern "C" __global__ void doubles_of_rows(const double* a, double* c, int cols) {
  double sum = 0;
  for (int j = 0; j < cols; ++j) sum += a[(blockIdx.x * blockDim.x + threadIdx.x) * cols + j];
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// == integers_of_64_bits
extern "C" __global__ void integers_of_64_bits(u64* c, const int* index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[index[i]] += i;
}

// == one_thread_writes
extern "C" __global__ void one_thread_writes(const int* a, int* c, int n) {
  int best = 0;
  for (int i = 0; i < n; ++i) best = max(best, a[i]);
  if (blockIdx.x == 0 && threadIdx.x == 0) c[0] = best;
}

// == structures
struct Body { float x, y; int count; };
extern "C" __global__ void structures(Body* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Body body = c[i];
  body.count += 1;
  c[i] = body;
}

// == triangle
extern "C" __global__ void triangle(const float* a, float* c, int n) {
  int row = blockIdx.x, column = threadIdx.x;
  if (column > row) return;
  float value = a[row * n + column];
  c[row * n + column] = value;
  if (column != row) c[column * n + row] = value;
}

// == turn_on_flags
extern "C" __global__ void turn_on_flags(const int* a, int* c, int* any) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] > 0;
  if (a[i] > 0) atomicOr(any, 1);
}

// == device_variables
__device__ int total;
__device__ int table[64];
extern "C" __global__ void device_variables(const int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i] = a[i];
  atomicAdd(&total, a[i]);
}

// == pointer_from_memory
extern "C" __global__ void pointer_from_memory(float* c, float* d) {
  float* pointers[2] = {c, d};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* p = pointers[i & 1];
  p[i] = p[i] + 1;
}
