// Good kernels of one block at a time, as courses and blog posts write them: reductions, scans, sorts, tiles.
#define FULL 0xffffffffu

// == reduce_interleaved
extern "C" __global__ void reduce_interleaved(const int* g_in, int* g_out) {
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  sdata[tid] = g_in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

// == reduce_strided_index
extern "C" __global__ void reduce_strided_index(const int* g_in, int* g_out) {
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  sdata[tid] = g_in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

// == reduce_add_during_load
extern "C" __global__ void reduce_add_during_load(const float* g_in, float* g_out, unsigned n) {
  extern __shared__ float sdata[];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + tid;
  float mine = i < n ? g_in[i] : 0;
  if (i + blockDim.x < n) mine += g_in[i + blockDim.x];
  sdata[tid] = mine;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] = mine = mine + sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) g_out[blockIdx.x] = mine;
}

// == reduce_last_warp_unrolled
template <unsigned block>
__device__ void last_warp(volatile float* sdata, unsigned tid) {
  float x = sdata[tid];
  if (block >= 64) { x += sdata[tid + 32]; __syncwarp(); sdata[tid] = x; __syncwarp(); }
  x += sdata[tid + 16]; __syncwarp(); sdata[tid] = x; __syncwarp();
  x += sdata[tid + 8]; __syncwarp(); sdata[tid] = x; __syncwarp();
  x += sdata[tid + 4]; __syncwarp(); sdata[tid] = x; __syncwarp();
  x += sdata[tid + 2]; __syncwarp(); sdata[tid] = x; __syncwarp();
  x += sdata[tid + 1]; __syncwarp(); sdata[tid] = x;
}
extern "C" __global__ void reduce_last_warp_unrolled(const float* g_in, float* g_out) {
  __shared__ float sdata[128 + 32];
  unsigned tid = threadIdx.x;
  sdata[tid] = g_in[blockIdx.x * 128 + tid];
  if (tid < 32) sdata[128 + tid] = 0;
  __syncthreads();
  if (tid < 64) sdata[tid] += sdata[tid + 64];
  __syncthreads();
  if (tid < 32) last_warp<128>(sdata, tid);
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

// == warp_then_block_sum
__inline__ __device__ float warp_sum(float v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(FULL, v, offset);
  return v;
}
extern "C" __global__ void warp_then_block_sum(const float* in, float* out, int n) {
  static __shared__ float shared[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  sum = warp_sum(sum);
  if (lane == 0) shared[wid] = sum;
  __syncthreads();
  sum = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0;
  if (wid == 0) sum = warp_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// == block_reduce_reused_buffer
// llm.c style: one shared array serves two reductions, with a barrier between them.
__device__ float block_reduce(float v, float* buffer, bool max_not_sum) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (int o = 16; o > 0; o >>= 1) {
    float other = __shfl_xor_sync(FULL, v, o);
    v = max_not_sum ? fmaxf(v, other) : v + other;
  }
  if (lane == 0) buffer[warp] = v;
  __syncthreads();
  v = lane < warps ? buffer[lane] : (max_not_sum ? -3e38f : 0.f);
  for (int o = 16; o > 0; o >>= 1) {
    float other = __shfl_xor_sync(FULL, v, o);
    v = max_not_sum ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  return v;
}
extern "C" __global__ void block_reduce_reused_buffer(const float* x, float* y, int cols) {
  __shared__ float buffer[32];
  const float* row = x + blockIdx.x * cols;
  float m = -3e38f, s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, row[c]);
  m = block_reduce(m, buffer, true);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += expf(row[c] - m);
  s = block_reduce(s, buffer, false);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(row[c] - m) / s;
}

// == layernorm_forward
extern "C" __global__ void layernorm_forward(float* out, float* mean, float* rstd, const float* in, const float* w,
                                             const float* b, int N, int C) {
  int warps = blockDim.x / 32, row = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* x = in + row * C;
  float s = 0;
  for (int i = lane; i < C; i += 32) s += x[i];
  for (int o = 16; o; o /= 2) s += __shfl_xor_sync(FULL, s, o);
  float m = s / C, v = 0;
  for (int i = lane; i < C; i += 32) v += (x[i] - m) * (x[i] - m);
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  float r = rsqrtf(v / C + 1e-5f);
  if (lane == 0) { mean[row] = m; rstd[row] = r; }
  for (int i = lane; i < C; i += 32) out[row * C + i] = (x[i] - m) * r * w[i] + b[i];
}

// == scan_double_buffer
extern "C" __global__ void scan_double_buffer(const int* in, int* out) {
  extern __shared__ int temp[];
  int n = blockDim.x, thid = threadIdx.x, pout = 0, pin = 1;
  temp[thid] = thid > 0 ? in[blockIdx.x * n + thid - 1] : 0;
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    int v = temp[pin * n + thid];
    if (thid >= offset) v += temp[pin * n + thid - offset];
    temp[pout * n + thid] = v;
    __syncthreads();
  }
  out[blockIdx.x * n + thid] = temp[pout * n + thid];
}

// == scan_work_efficient
extern "C" __global__ void scan_work_efficient(const int* in, int* out, int n) {
  extern __shared__ int temp[];
  int thid = threadIdx.x, offset = 1;
  temp[2 * thid] = in[2 * thid];
  temp[2 * thid + 1] = in[2 * thid + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  out[2 * thid] = temp[2 * thid];
  out[2 * thid + 1] = temp[2 * thid + 1];
}

// == scan_by_shuffles
extern "C" __global__ void scan_by_shuffles(const int* in, int* out) {
  __shared__ int sums[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = in[threadIdx.x];
  for (int d = 1; d < 32; d <<= 1) {
    int n = __shfl_up_sync(FULL, v, d);
    if (lane >= d) v += n;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0 && lane < blockDim.x / 32) {
    unsigned mask = (1u << (blockDim.x / 32)) - 1;
    int s = sums[lane];
    for (int d = 1; d < blockDim.x / 32; d <<= 1) {
      int n = __shfl_up_sync(mask, s, d);
      if (lane >= d) s += n;
    }
    sums[lane] = s;
  }
  __syncthreads();
  out[threadIdx.x] = v + (warp > 0 ? sums[warp - 1] : 0);
}

// == bitonic_in_shared
extern "C" __global__ void bitonic_in_shared(int* data) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x;
  s[t] = data[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned k = 2; k <= blockDim.x; k <<= 1)
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      unsigned ixj = t ^ j;
      if (ixj > t) {
        if (((t & k) == 0) == (s[t] > s[ixj])) {
          int swap = s[t];
          s[t] = s[ixj];
          s[ixj] = swap;
        }
      }
      __syncthreads();
    }
  data[blockIdx.x * blockDim.x + t] = s[t];
}

// == bitonic_pairs
// Each thread owns a pair, as the sorting network samples do.
extern "C" __global__ void bitonic_pairs(unsigned* keys, unsigned size) {
  __shared__ unsigned s[128];
  s[threadIdx.x] = keys[threadIdx.x];
  s[threadIdx.x + size / 2] = keys[threadIdx.x + size / 2];
  for (unsigned length = 2; length <= size; length <<= 1) {
    unsigned direction = (threadIdx.x & (length / 2)) != 0 && length < size;
    for (unsigned stride = length / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      unsigned a = s[pos], b = s[pos + stride];
      if ((a > b) != direction) { s[pos] = b; s[pos + stride] = a; }
    }
  }
  __syncthreads();
  keys[threadIdx.x] = s[threadIdx.x];
  keys[threadIdx.x + size / 2] = s[threadIdx.x + size / 2];
}

// == merge_ranks
extern "C" __global__ void merge_ranks(const int* a, const int* b, int* c) {
  __shared__ int sa[64], sb[64];
  sa[threadIdx.x] = a[threadIdx.x];
  sb[threadIdx.x] = b[threadIdx.x];
  __syncthreads();
  int lo = 0, hi = 64;
  while (lo < hi) { int mid = (lo + hi) / 2; if (sb[mid] < sa[threadIdx.x]) lo = mid + 1; else hi = mid; }
  c[threadIdx.x + lo] = sa[threadIdx.x];
  lo = 0; hi = 64;
  while (lo < hi) { int mid = (lo + hi) / 2; if (sa[mid] <= sb[threadIdx.x]) lo = mid + 1; else hi = mid; }
  c[threadIdx.x + lo] = sb[threadIdx.x];
}

// == tiled_gemm_ragged
#define TILE 8
extern "C" __global__ void tiled_gemm_ragged(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float acc = 0;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[row * K + ka] : 0;
    Bs[threadIdx.y][threadIdx.x] = kb < K && col < N ? B[kb * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

// == gemm_register_tile
extern "C" __global__ void gemm_register_tile(const float* A, const float* B, float* C, int n) {
  const int BM = 16, BK = 8, TM = 4;
  __shared__ float As[BM * BK], Bs[BK * BM];
  int tx = threadIdx.x % BM, ty = threadIdx.x / BM;  // 64 threads
  float acc[TM] = {0};
  for (int k0 = 0; k0 < n; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 64) {
      As[i] = A[(blockIdx.y * BM + i / BK) * n + k0 + i % BK];
      Bs[i] = B[(k0 + i / BM) * n + blockIdx.x * BM + i % BM];
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float b = Bs[k * BM + tx];
      for (int m = 0; m < TM; ++m) acc[m] += As[(ty * TM + m) * BK + k] * b;
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m) C[(blockIdx.y * BM + ty * TM + m) * n + blockIdx.x * BM + tx] = acc[m];
}

// == gemm_double_buffered
extern "C" __global__ void gemm_double_buffered(const float* A, const float* B, float* C, int n) {
  __shared__ float As[2][8][8], Bs[2][8][8];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x, now = 0;
  As[0][y][x] = A[row * n + x];
  Bs[0][y][x] = B[y * n + col];
  __syncthreads();
  float acc = 0;
  for (int t = 0; t < n / 8; ++t) {
    if (t + 1 < n / 8) {
      As[now ^ 1][y][x] = A[row * n + (t + 1) * 8 + x];
      Bs[now ^ 1][y][x] = B[((t + 1) * 8 + y) * n + col];
    }
    for (int k = 0; k < 8; ++k) acc += As[now][y][k] * Bs[now][k][x];
    __syncthreads();
    now ^= 1;
  }
  C[row * n + col] = acc;
}

// == transpose_padded
extern "C" __global__ void transpose_padded(const float* in, float* out, int width, int height) {
  __shared__ float tile[16][16 + 1];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// == transpose_swizzled
extern "C" __global__ void transpose_swizzled(const float* in, float* out) {
  __shared__ float tile[32 * 32];
  for (int j = threadIdx.y; j < 32; j += blockDim.y) tile[j * 32 + (threadIdx.x ^ j)] = in[j * 32 + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y) out[j * 32 + threadIdx.x] = tile[threadIdx.x * 32 + (j ^ threadIdx.x)];
}

// == transpose_in_place
extern "C" __global__ void transpose_in_place(float* a, int n) {
  __shared__ float upper[8][9], lower[8][9];
  if (blockIdx.x > blockIdx.y) return;
  int x = threadIdx.x, y = threadIdx.y;
  upper[y][x] = a[(blockIdx.y * 8 + y) * n + blockIdx.x * 8 + x];
  lower[y][x] = a[(blockIdx.x * 8 + y) * n + blockIdx.y * 8 + x];
  __syncthreads();
  a[(blockIdx.y * 8 + y) * n + blockIdx.x * 8 + x] = lower[x][y];
  if (blockIdx.x != blockIdx.y) a[(blockIdx.x * 8 + y) * n + blockIdx.y * 8 + x] = upper[x][y];
}

// == stencil_with_halo
#define RADIUS 3
extern "C" __global__ void stencil_with_halo(const int* in, int* out, int n) {
  __shared__ int temp[64 + 2 * RADIUS];
  int g = threadIdx.x + blockIdx.x * 64, l = threadIdx.x + RADIUS;
  temp[l] = g < n ? in[g] : 0;
  if (threadIdx.x < RADIUS) {
    temp[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;
    temp[l + 64] = g + 64 < n ? in[g + 64] : 0;
  }
  __syncthreads();
  int r = 0;
  for (int o = -RADIUS; o <= RADIUS; ++o) r += temp[l + o];
  if (g < n) out[g] = r;
}

// == hotspot_pyramid
// Several steps in shared memory per launch; each step computes one cell less at the border.
extern "C" __global__ void hotspot_pyramid(const float* in, float* out, int n, int steps) {
  __shared__ float now[16][16], next[16][16];
  int small = 16 - 2 * steps;
  int x = (int)(blockIdx.x * small + threadIdx.x) - steps, y = (int)(blockIdx.y * small + threadIdx.y) - steps;
  int cx = min(max(x, 0), n - 1), cy = min(max(y, 0), n - 1);
  now[threadIdx.y][threadIdx.x] = in[cy * n + cx];
  __syncthreads();
  bool done = false;
  for (int s = 0; s < steps; ++s) {
    done = false;
    int tx = threadIdx.x, ty = threadIdx.y;
    if (tx > s && tx < 15 - s && ty > s && ty < 15 - s) {
      done = true;
      next[ty][tx] = 0.2f * (now[ty][tx] + now[ty - 1][tx] + now[ty + 1][tx] + now[ty][tx - 1] + now[ty][tx + 1]);
    }
    __syncthreads();
    if (s == steps - 1) break;
    if (done) now[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (done && x >= 0 && y >= 0 && x < n && y < n) out[y * n + x] = next[threadIdx.y][threadIdx.x];
}

// == pathfinder_rows
extern "C" __global__ void pathfinder_rows(const int* wall, int* result, int cols, int rows) {
  __shared__ int prev[64], cur[64];
  int t = threadIdx.x;
  prev[t] = wall[t];
  __syncthreads();
  for (int r = 1; r < rows; ++r) {
    int left = prev[max(t - 1, 0)], right = prev[min(t + 1, cols - 1)];
    cur[t] = min(min(left, right), prev[t]) + wall[r * cols + t];
    __syncthreads();
    prev[t] = cur[t];
    __syncthreads();
  }
  result[t] = prev[t];
}

// == needleman_wavefront
extern "C" __global__ void needleman_wavefront(const int* score, int* table, int n) {
  __shared__ int s[17][17];
  int t = threadIdx.x;  // 16 threads
  if (t == 0) s[0][0] = 0;
  s[t + 1][0] = -(t + 1);
  s[0][t + 1] = -(t + 1);
  __syncwarp(0xffff);
  for (int d = 0; d < 2 * 16 - 1; ++d) {
    int x = d - t + 1, y = t + 1;
    if (x >= 1 && x <= 16) s[y][x] = max(s[y - 1][x - 1] + score[(y - 1) * n + x - 1], max(s[y - 1][x], s[y][x - 1]) - 1);
    __syncwarp(0xffff);
  }
  for (int x = 0; x < 16; ++x) table[t * n + x] = s[t + 1][x + 1];
}

// == lu_of_a_tile
extern "C" __global__ void lu_of_a_tile(float* a) {
  __shared__ float s[16][16];
  int t = threadIdx.x;
  for (int r = 0; r < 16; ++r) s[r][t] = a[r * 16 + t];
  __syncthreads();
  for (int k = 0; k < 15; ++k) {
    if (t > k) s[t][k] /= s[k][k];
    __syncthreads();
    if (t > k) for (int c = k + 1; c < 16; ++c) s[t][c] -= s[t][k] * s[k][c];
    __syncthreads();
  }
  for (int r = 0; r < 16; ++r) a[r * 16 + t] = s[r][t];
}

// == histogram_per_warp
extern "C" __global__ void histogram_per_warp(const unsigned char* data, unsigned* out, int n) {
  __shared__ unsigned hist[4 * 64];
  for (int i = threadIdx.x; i < 4 * 64; i += blockDim.x) hist[i] = 0;
  __syncthreads();
  unsigned* mine = hist + (threadIdx.x / 32) * 64;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(mine + data[i] % 64, 1);
  __syncthreads();
  if (threadIdx.x < 64) {
    unsigned sum = 0;
    for (int w = 0; w < 4; ++w) sum += hist[w * 64 + threadIdx.x];
    atomicAdd(out + threadIdx.x, sum);
  }
}

// == histogram_bytes_of_a_thread
// One byte counter per thread and bin; nobody shares a byte, though four threads share a word.
extern "C" __global__ void histogram_bytes_of_a_thread(const unsigned char* data, unsigned* out, int per_thread) {
  __shared__ unsigned char s[16 * 64];
  for (int b = 0; b < 16; ++b) s[b * 64 + threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < per_thread; ++i) s[(data[i * 64 + threadIdx.x] & 15) * 64 + threadIdx.x]++;
  __syncthreads();
  if (threadIdx.x < 16) {
    unsigned sum = 0;
    for (int i = 0; i < 64; ++i) sum += s[threadIdx.x * 64 + (i + threadIdx.x) % 64];
    out[threadIdx.x] = sum;
  }
}

// == union_reused_storage
union Storage { float values[64]; int indices[64]; };
extern "C" __global__ void union_reused_storage(const float* x, float* y, const int* order) {
  __shared__ Storage s;
  s.values[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float v = s.values[63 - threadIdx.x];
  __syncthreads();
  s.indices[threadIdx.x] = order[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = v + s.indices[(threadIdx.x + 1) % 64];
}

// == carved_dynamic_shared
extern "C" __global__ void carved_dynamic_shared(const double* x, double* y, int n) {
  extern __shared__ char raw[];
  double* values = reinterpret_cast<double*>(raw);
  int* index = reinterpret_cast<int*>(values + n);
  unsigned char* flag = reinterpret_cast<unsigned char*>(index + n);
  int t = threadIdx.x;
  values[t] = x[t];
  index[t] = (t * 5) % n;
  flag[t] = t & 1;
  __syncthreads();
  y[t] = flag[index[t]] ? values[index[t]] : -values[t];
}

// == nbody_tiles
extern "C" __global__ void nbody_tiles(const float4* pos, float3* acc, int n) {
  __shared__ float4 tile[32];
  int i = blockIdx.x * 32 + threadIdx.x;
  float4 me = pos[i];
  float3 a = {0, 0, 0};
  for (int t = 0; t < n / 32; ++t) {
    tile[threadIdx.x] = pos[t * 32 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float w = tile[j].w * inv * inv * inv;
      a.x += dx * w; a.y += dy * w; a.z += dz * w;
    }
    __syncthreads();
  }
  acc[i] = a;
}

// == kmeans_assign
extern "C" __global__ void kmeans_assign(const float2* points, const float2* centres, int* label, float2* sums, int* counts,
                                         int n, int k) {
  __shared__ float2 local_sum[8];
  __shared__ int local_count[8];
  if (threadIdx.x < k) { local_sum[threadIdx.x] = make_float2(0, 0); local_count[threadIdx.x] = 0; }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int best = 0;
    float least = 1e30f;
    for (int c = 0; c < k; ++c) {
      float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
      if (d < least) { least = d; best = c; }
    }
    label[i] = best;
    atomicAdd(&local_sum[best].x, points[i].x);
    atomicAdd(&local_sum[best].y, points[i].y);
    atomicAdd(&local_count[best], 1);
  }
  __syncthreads();
  if (threadIdx.x < k) {
    atomicAdd(&sums[threadIdx.x].x, local_sum[threadIdx.x].x);
    atomicAdd(&sums[threadIdx.x].y, local_sum[threadIdx.x].y);
    atomicAdd(&counts[threadIdx.x], local_count[threadIdx.x]);
  }
}

// == bfs_level
// All threads that find a new node write the same level: equal values, and nobody reads them in this launch.
extern "C" __global__ void bfs_level(const int* start, const int* edges, const int* level, int* next, int now, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != now) return;
  for (int e = start[v]; e < start[v + 1]; ++e)
    if (level[edges[e]] < 0) atomicMax(&next[edges[e]], now + 1);
}

// == spmv_vector_per_warp
extern "C" __global__ void spmv_vector_per_warp(const int* ptr, const int* col, const float* val, const float* x, float* y,
                                                int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float sum = 0;
  for (int i = ptr[row] + lane; i < ptr[row + 1]; i += 32) sum += val[i] * x[col[i]];
  for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(FULL, sum, o);
  if (lane == 0) y[row] = sum;
}

// == fft_in_shared
extern "C" __global__ void fft_in_shared(const float2* in, float2* out) {
  __shared__ float2 s[64];
  int t = threadIdx.x;  // 32 threads
  s[__brev(t) >> 26] = in[t];
  s[__brev(t + 32) >> 26] = in[t + 32];
  for (int half = 1; half < 64; half *= 2) {
    __syncthreads();
    int k = t % half, i = t / half * 2 * half + k;
    float angle = -3.14159265f * k / half, c = cosf(angle), d = sinf(angle);
    float2 a = s[i], b = s[i + half];
    float2 w = make_float2(b.x * c - b.y * d, b.x * d + b.y * c);
    s[i] = make_float2(a.x + w.x, a.y + w.y);
    s[i + half] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  out[t] = s[t];
  out[t + 32] = s[t + 32];
}

// == warps_own_rows
// Each warp has its own row of shared memory, so that a warp barrier is enough.
extern "C" __global__ void warps_own_rows(const float* x, float* y) {
  __shared__ float rows[4][32];
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  rows[w][l] = x[threadIdx.x];
  __syncwarp();
  float left = rows[w][(l + 31) % 32], right = rows[w][(l + 1) % 32];
  __syncwarp();
  rows[w][l] = left + right;
  __syncwarp();
  y[threadIdx.x] = rows[w][31 - l];
}

// == ring_of_three
// Three buffers need one barrier per turn.
extern "C" __global__ void ring_of_three(const float* x, float* y, int turns) {
  __shared__ float ring[3][64];
  float sum = 0;
  for (int t = 0; t < turns; ++t) {
    ring[t % 3][threadIdx.x] = x[t * 64 + threadIdx.x];
    __syncthreads();
    sum += ring[t % 3][(threadIdx.x * 7) % 64];
  }
  y[threadIdx.x] = sum;
}

// == dot_product_of_doubles
extern "C" __global__ void dot_product_of_doubles(const double* a, const double* b, double* c, int n) {
  __shared__ double cache[64];
  double temp = 0;
  for (int tid = threadIdx.x + blockIdx.x * blockDim.x; tid < n; tid += blockDim.x * gridDim.x) temp += a[tid] * b[tid];
  cache[threadIdx.x] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
    __syncthreads();
    i /= 2;
  }
  if (threadIdx.x == 0) atomicAdd(c, cache[0]);
}

// == stack_in_local_memory
extern "C" __global__ void stack_in_local_memory(const int* left, const int* right, const int* value, int* sum) {
  int stack[16], top = 0, total = 0;
  stack[top++] = threadIdx.x % 7;
  while (top > 0) {
    int node = stack[--top];
    total += value[node];
    if (left[node] >= 0) stack[top++] = left[node];
    if (right[node] >= 0) stack[top++] = right[node];
  }
  sum[threadIdx.x] = total;
}

// == local_histogram
extern "C" __global__ void local_histogram(const unsigned char* x, int* out, int n) {
  int bins[8];
  for (int b = 0; b < 8; ++b) bins[b] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) bins[x[i] & 7]++;
  for (int b = 0; b < 8; ++b) atomicAdd(&out[b], bins[b]);
}

// == value_set_on_every_path
extern "C" __global__ void value_set_on_every_path(const int* x, int* y) {
  int v;
  switch (x[threadIdx.x] & 3) {
    case 0: v = 5; break;
    case 1: v = x[threadIdx.x] * 2; break;
    default: v = -1;
  }
  y[threadIdx.x] = v;
}

// == set_in_the_first_turn
// The compiler cannot see that `last` is set before it is read.
extern "C" __global__ void set_in_the_first_turn(const int* x, int* y, int n) {
  int last;
  for (int i = 0; i < n; ++i) {
    if (i > 0) y[threadIdx.x * n + i] = last;
    last = x[threadIdx.x * n + i];
    if (i == 0) y[threadIdx.x * n] = last;
  }
}

// == partly_filled_local_array
// Only the elements that were written are read.
extern "C" __global__ void partly_filled_local_array(const int* x, int* y) {
  int kept[8], count = 0;
  for (int i = 0; i < 8; ++i)
    if (x[threadIdx.x * 8 + i] > 10) kept[count++] = x[threadIdx.x * 8 + i];
  int sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 3 + kept[i];
  y[threadIdx.x] = sum;
}

// == null_when_absent
extern "C" __global__ void null_when_absent(const float* x, const float* bias, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = x[i] + (bias != nullptr ? bias[i] : 0);
}

// == one_past_the_end
// A pointer may point one past the end as long as nobody reads there.
extern "C" __global__ void one_past_the_end(const int* x, int* y, int n) {
  int sum = 0;
  for (const int* p = x + threadIdx.x; p < x + n; p += blockDim.x) sum += *p;
  y[threadIdx.x] = sum;
}

// == in_place_map
extern "C" __global__ void in_place_map(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2 + 1;
}
