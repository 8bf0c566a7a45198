// Kernels for tests/hardware/eighteenth_cases.py: other ones than those of the seventeen sets before, as programs have
// them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define EVERY_LANE 0xffffffffu
#ifndef INFINITY  // NVRTC alone does not know it
#define INFINITY __int_as_float(0x7f800000)
#endif

__device__ __forceinline__ int own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 hashed(u32 x) {
  x = (x ^ x >> 17) * 0xed5ad4bbu;
  x = (x ^ x >> 11) * 0xac4c1b51u;
  return x ^ x >> 15;
}

// A thread's stream of random numbers; it begins at a hash.
struct Random {
  u32 state;
  __device__ __forceinline__ Random(u32 k, u32 seed) : state(hashed(k ^ seed)) {}
  __device__ __forceinline__ u32 word() {
    state = state * 747796405u + 2891336453u;
    const u32 mixed = (state >> ((state >> 28) + 4) ^ state) * 277803737u;
    return mixed >> 22 ^ mixed;
  }
  __device__ __forceinline__ u32 below(u32 n) { return __umulhi(word(), n); }
  __device__ __forceinline__ float part() { return ((word() >> 9) + 0.5f) * (1.0f / 8388608.0f); }
};

template <class T>
__device__ __forceinline__ T lanes_sum(T x) {
#pragma unroll
  for (int step = 16; step; step >>= 1) x += __shfl_xor_sync(EVERY_LANE, x, step);
  return x;
}

// ------------------------------------------------------------------------------------------------- reductions and scans

// Sums of equal pieces, one per block: by quads, then the block's threads halve their number in shared memory.
template <int THREADS>
__global__ void halving_sums(const float4* __restrict__ in, float* __restrict__ out, int quads) {
  __shared__ float held[THREADS];
  const float4* own = in + (size_t)blockIdx.x * quads;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < quads; j += THREADS) {
    const float4 v = own[j];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  held[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int half = THREADS / 2; half >= 32; half /= 2) {
    if (threadIdx.x < half) held[threadIdx.x] = sum += held[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
#pragma unroll
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(EVERY_LANE, sum, step);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Squares of a matrix of doubles, summed by columns; each row of blocks adds what its slab of rows has.
__global__ void double_column_norms(const double* __restrict__ in, double* __restrict__ out, int rows, int columns,
                                    int slab) {
  const int column = own_index();
  if (column >= columns) return;
  const int first = blockIdx.y * slab, last = min(first + slab, rows);
  double sum = 0.0;
  for (int row = first; row < last; row++) {
    const double v = in[(size_t)row * columns + column];
    sum += v * v;
  }
  atomicAdd(&out[column], sum);
}

// log(sum(exp)) of columns: 32 columns per block, the block's rows of threads meet in shared memory.
__global__ void log_sum_exp_columns(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  __shared__ float2 parts[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float top = -INFINITY, sum = 0.0f;
  if (column < columns) {
    for (int row = threadIdx.y; row < rows; row += blockDim.y) {
      const float v = in[row * columns + column];
      if (v > top) {
        sum = sum * __expf(top - v) + 1.0f;
        top = v;
      } else {
        sum += __expf(v - top);
      }
    }
  }
  parts[threadIdx.y][threadIdx.x] = make_float2(top, sum);
  __syncthreads();
  if (threadIdx.y || column >= columns) return;
  for (int y = 1; y < blockDim.y; y++) {
    const float2 other = parts[y][threadIdx.x];
    if (other.y == 0.0f) continue;
    const float most = fmaxf(top, other.x);
    sum = sum * __expf(top - most) + other.y * __expf(other.x - most);
    top = most;
  }
  out[column] = top + __logf(sum);
}

// Running sums along rows; a block per row, four neighbours per thread, what came before is carried on.
__global__ void cumulative_rows(const int* __restrict__ in, int* __restrict__ out, int length) {
  __shared__ int totals[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int* own = in + (size_t)blockIdx.x * length;
  int* to = out + (size_t)blockIdx.x * length;
  int carried = 0;
  for (int start = 0; start < length; start += 4 * blockDim.x) {
    const int at = start + 4 * threadIdx.x;
    int v[4];
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = (at + j < length ? own[at + j] : 0) + (j ? v[j - 1] : 0);
    int sum = v[3];
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(EVERY_LANE, sum, step);
      if (lane >= step) sum += before;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    int before = carried + sum - v[3];
    for (int w = 0; w < warps; w++) {
      if (w < warp) before += totals[w];
      carried += totals[w];
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (at + j < length) to[at + j] = before + v[j];
    __syncthreads();
  }
}

// How much better than expected each step of a game went (generalised advantages), from the last step to the first.
__global__ void advantage_traces(const float* __restrict__ rewards, const float* __restrict__ values,
                                 float* __restrict__ out, int games, int steps, float discount, float trace) {
  const int k = own_index();
  if (k >= games) return;
  float next = values[steps * games + k], sum = 0.0f;
  for (int t = steps - 1; t >= 0; t--) {
    const float value = values[t * games + k];
    sum = rewards[t * games + k] + discount * next - value + discount * trace * sum;
    out[t * games + k] = sum;
    next = value;
  }
}

// --------------------------------------------------------------------------------------------------- pieces of networks

// Losses of pairs against all others: row k of the anchors belongs to row k of the others, 64 numbers each. A block per
// anchor; each warp takes others at a fixed distance.
__global__ void contrastive_losses(const float2* __restrict__ anchors, const float2* __restrict__ others,
                                   float* __restrict__ out, int n, float scale) {
  __shared__ float tops[32], sums[32];
  __shared__ float own;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float2 a = anchors[blockIdx.x * 32 + lane];
  float top = -INFINITY, sum = 0.0f;
  for (int j = warp; j < n; j += warps) {
    const float2 b = others[j * 32 + lane];
    const float score = scale * lanes_sum(a.x * b.x + a.y * b.y);
    const float most = fmaxf(top, score);
    sum = sum * expf(top - most) + expf(score - most);
    top = most;
    if (j == blockIdx.x && lane == 0) own = score;
  }
  if (lane == 0) {
    tops[warp] = top;
    sums[warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x) return;
  float most = tops[0], all = 0.0f;
  for (int w = 1; w < warps; w++) most = fmaxf(most, tops[w]);
  for (int w = 0; w < warps; w++) all += sums[w] * expf(tops[w] - most);
  out[blockIdx.x] = most + logf(all) - own;
}

// Attention of each query to itself and the keys shortly before; a warp per query, 64 numbers per row.
__global__ void windowed_attention(const float2* __restrict__ queries, const float2* __restrict__ keys,
                                   const float2* __restrict__ values, float2* __restrict__ out, int n, int window) {
  const int lane = threadIdx.x % 32, query = own_index() / 32;
  if (query >= n) return;
  const float2 q = queries[query * 32 + lane];
  float top = -1e30f, sum = 0.0f;
  float2 mean = make_float2(0.0f, 0.0f);
  for (int j = max(query - window + 1, 0); j <= query; j++) {
    const float2 key = keys[j * 32 + lane], value = values[j * 32 + lane];
    const float score = 0.125f * lanes_sum(q.x * key.x + q.y * key.y);
    const float most = fmaxf(top, score), kept = __expf(top - most), weight = __expf(score - most);
    mean.x = mean.x * kept + weight * value.x;
    mean.y = mean.y * kept + weight * value.y;
    sum = sum * kept + weight;
    top = most;
  }
  out[query * 32 + lane] = make_float2(mean.x / sum, mean.y / sum);
}

// Weights of two bits (0, +1, -1) times a vector; a warp per row, 16 weights per word.
__global__ void ternary_products(const u32* __restrict__ weights, const float4* __restrict__ x, float* __restrict__ out,
                                 int rows, int words) {
  const int lane = threadIdx.x % 32, row = own_index() / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int w = lane; w < words; w += 32) {
    const u32 packed = weights[(size_t)row * words + w];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float4 v = x[4 * w + j];
      const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const u32 code = packed >> (8 * j + 2 * i) & 3;
        sum += code == 1 ? four[i] : code == 2 ? -four[i] : 0.0f;
      }
    }
  }
  sum = lanes_sum(sum);
  if (lane == 0) out[row] = sum;
}

// Gradients of a * gelu(b), in pairs of bfloat16.
__global__ void geglu_gradients(const __nv_bfloat162* __restrict__ gradients, const __nv_bfloat162* __restrict__ a,
                                const __nv_bfloat162* __restrict__ b, __nv_bfloat162* __restrict__ to_a,
                                __nv_bfloat162* __restrict__ to_b, int pairs) {
  for (int k = own_index(); k < pairs; k += gridDim.x * blockDim.x) {
    const float2 g = __bfloat1622float2(gradients[k]), x = __bfloat1622float2(a[k]), y = __bfloat1622float2(b[k]);
    const float gs[2] = {g.x, g.y}, xs[2] = {x.x, x.y}, ys[2] = {y.x, y.y};
    float first[2], second[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
      const float v = ys[j], inside = 0.79788456f * (v + 0.044715f * v * v * v), turned = tanhf(inside);
      const float slope = 0.79788456f * (1.0f + 0.134145f * v * v) * (1.0f - turned * turned);
      first[j] = gs[j] * 0.5f * v * (1.0f + turned);
      second[j] = gs[j] * xs[j] * 0.5f * (1.0f + turned + v * slope);
    }
    to_a[k] = __floats2bfloat162_rn(first[0], first[1]);
    to_b[k] = __floats2bfloat162_rn(second[0], second[1]);
  }
}

// The greatest of 3 x 3 points, every second column and row, and where it stands.
__global__ void pool_with_places(const int* __restrict__ in, int* __restrict__ out, int* __restrict__ places, int width,
                                 int height) {
  const int x = own_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  const int wide = (width - 1) / 2, high = (height - 1) / 2;
  if (x >= wide || y >= high) return;
  int best = -1, place = 0;
#pragma unroll
  for (int dy = 0; dy < 3; dy++) {
#pragma unroll
    for (int dx = 0; dx < 3; dx++) {
      const int at = (2 * y + dy) * width + 2 * x + dx, v = in[at];
      if (v > best) {
        best = v;
        place = at;
      }
    }
  }
  out[y * wide + x] = best;
  places[y * wide + x] = place;
}

// The way back: each gradient goes to the place that was the greatest.
__global__ void unpool_add(const int* __restrict__ gradients, const int* __restrict__ places, int* __restrict__ out,
                           int n) {
  const int k = own_index();
  if (k < n) atomicAdd(&out[places[k]], gradients[k]);
}

// Four taps per channel over what came before, then x * sigmoid(x); a thread per channel and piece of time.
__global__ void causal_taps(const float* __restrict__ in, const float4* __restrict__ taps, float* __restrict__ out,
                            int channels, int length, int piece) {
  const int c = own_index();
  if (c >= channels) return;
  const float4 w = taps[c];
  const int first = blockIdx.y * piece, last = min(first + piece, length);
  float a = first > 2 ? in[(first - 3) * channels + c] : 0.0f;
  float b = first > 1 ? in[(first - 2) * channels + c] : 0.0f;
  float d = first > 0 ? in[(first - 1) * channels + c] : 0.0f;
  for (int t = first; t < last; t++) {
    const float v = in[t * channels + c], sum = w.x * a + w.y * b + w.z * d + w.w * v;
    out[t * channels + c] = sum / (1.0f + __expf(-sum));
    a = b;
    b = d;
    d = v;
  }
}

// A step of gradients with momentum looked ahead; the float weights lead, the half weights follow.
__global__ void nesterov_step(const half2* __restrict__ gradients, float2* __restrict__ weights,
                              float2* __restrict__ speeds, half2* __restrict__ short_weights, int pairs, float rate,
                              float kept) {
  const int k = own_index();
  if (k >= pairs) return;
  const float2 g = __half22float2(gradients[k]);
  float2 w = weights[k], v = speeds[k];
  v = make_float2(kept * v.x + g.x, kept * v.y + g.y);
  w = make_float2(w.x - rate * (g.x + kept * v.x), w.y - rate * (g.y + kept * v.y));
  speeds[k] = v;
  weights[k] = w;
  short_weights[k] = __float22half2_rn(w);
}

// Scores of keys: the sum of v * tanh(key + query); a warp per key.
__global__ void additive_scores(const float* __restrict__ keys, const float* __restrict__ query,
                                const float* __restrict__ weights, float* __restrict__ out, int n, int size) {
  const int lane = threadIdx.x % 32, key = own_index() / 32;
  if (key >= n) return;
  float sum = 0.0f;
  for (int j = lane; j < size; j += 32) sum += weights[j] * tanhf(keys[key * size + j] + query[j]);
  sum = lanes_sum(sum);
  if (lane == 0) out[key] = sum;
}

// A memory of 32 x 32 numbers that learns by its mistakes at each step; a warp per head, a column per lane.
__global__ void delta_rule_heads(const float* __restrict__ keys, const float* __restrict__ queries,
                                 const float* __restrict__ values, float* __restrict__ out, int heads, int steps,
                                 float rate) {
  const int lane = threadIdx.x % 32, head = own_index() / 32;
  if (head >= heads) return;
  float memory[32] = {};
  for (int t = 0; t < steps; t++) {
    const int at = (head * steps + t) * 32 + lane;
    const float key = keys[at], query = queries[at];
    float known = 0.0f, told = 0.0f;
#pragma unroll
    for (int j = 0; j < 32; j++) known += __shfl_sync(EVERY_LANE, key, j) * memory[j];
    const float missed = rate * (values[at] - known);
#pragma unroll
    for (int j = 0; j < 32; j++) {
      memory[j] += __shfl_sync(EVERY_LANE, key, j) * missed;
      told += __shfl_sync(EVERY_LANE, query, j) * memory[j];
    }
    out[at] = told;
  }
}

// Hinge losses of triplets (anchor, like, unlike) of rows of a table, 64 half numbers each; a warp per triplet.
__global__ void triplet_margins(const half2* __restrict__ table, const int* __restrict__ triplets,
                                float* __restrict__ out, int n, float margin) {
  const int lane = threadIdx.x % 32, k = own_index() / 32;
  if (k >= n) return;
  const half2 a = table[triplets[3 * k] * 32 + lane];
  const float2 near = __half22float2(__hsub2(a, table[triplets[3 * k + 1] * 32 + lane]));
  const float2 far = __half22float2(__hsub2(a, table[triplets[3 * k + 2] * 32 + lane]));
  const float more = lanes_sum(near.x * near.x + near.y * near.y - far.x * far.x - far.y * far.y);
  if (lane == 0) out[k] = fmaxf(0.0f, more + margin);
}

// A layer whose edges are cubic splines with 8 coefficients on 0 to 1; a thread per sample and output.
__global__ void spline_edges(const float* __restrict__ x, const float* __restrict__ coefficients,
                             float* __restrict__ out, int samples, int inputs, int outputs) {
  const int k = own_index();
  if (k >= samples * outputs) return;
  const int sample = k / outputs, o = k % outputs;
  float sum = 0.0f;
  for (int j = 0; j < inputs; j++) {
    const float at = x[sample * inputs + j] * 5.0f;
    const int cell = min((int)at, 4);
    const float t = at - cell, s = 1.0f - t;
    const float* c = coefficients + (j * outputs + o) * 8 + cell;
    sum += s * s * s * c[0] + (3.0f * t * t * t - 6.0f * t * t + 4.0f) * c[1] +
           (3.0f * s * s * s - 6.0f * s * s + 4.0f) * c[2] + t * t * t * c[3];
  }
  out[k] = sum * (1.0f / 6.0f);
}

// Rows through a matrix of rank 8: first the 8 products of the row, a warp each, then all columns.
__global__ void low_rank_updates(const float* __restrict__ x, const float* __restrict__ down,
                                 const float* __restrict__ up, float* __restrict__ out, int width) {
  __shared__ float middle[8];
  const float* own = x + (size_t)blockIdx.x * width;
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < 8; r += blockDim.x / 32) {
    float sum = 0.0f;
    for (int j = lane; j < width; j += 32) sum += own[j] * down[r * width + j];
    sum = lanes_sum(sum);
    if (lane == 0) middle[r] = sum;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < width; j += blockDim.x) {
    float sum = own[j];
#pragma unroll
    for (int r = 0; r < 8; r++) sum += middle[r] * up[r * width + j];
    out[(size_t)blockIdx.x * width + j] = sum;
  }
}

// Scores of 16 queries and 8 keys of bfloat16 per warp, by tensor cores; tiles of keys that come later stay away.
__global__ void causal_scores_mma(const u32* __restrict__ queries, const u32* __restrict__ keys,
                                  float2* __restrict__ out, int n, int size) {
  const int lane = threadIdx.x % 32, across = n / 8, tile = own_index() / 32, row = tile / across * 16;
  const int column = tile % across * 8, words = size / 2;
  if (row >= n || column > row + 15) return;
  const u32* a = queries + (row + lane / 4) * words + lane % 4;
  const u32* b = keys + (column + lane / 4) * words + lane % 4;
  float sums[4] = {};
  for (int j = 0; j < words; j += 8) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[j]), "r"(a[8 * words + j]), "r"(a[j + 4]), "r"(a[8 * words + j + 4]), "r"(b[j]), "r"(b[j + 4]));
  }
  const int at = ((row + lane / 4) * n + column) / 2 + lane % 4;
  out[at] = make_float2(sums[0], sums[1]);
  out[at + 4 * n] = make_float2(sums[2], sums[3]);
}

// ------------------------------------------------------------------------------------------------------ linear algebra

// C += A B in tiles of 16 x 16; the blocks of a layer take a slice of the inner dimension and add with atomics.
__global__ void split_k_product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                                int n, int inner, int slice) {
  __shared__ float left[16][16], right[16][17];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  const int first = blockIdx.z * slice, last = min(first + slice, inner);
  float sum = 0.0f;
  for (int k = first; k < last; k += 16) {
    left[y][x] = row < m && k + x < last ? a[row * inner + k + x] : 0.0f;
    right[y][x] = column < n && k + y < last ? b[(k + y) * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++) sum += left[y][j] * right[j][x];
    __syncthreads();
  }
  if (row < m && column < n) atomicAdd(&c[row * n + column], sum);
}

// (A x B) v of Kronecker for many v: a block per v of size * size numbers, as A V B^T in shared memory.
__global__ void kronecker_apply(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ in,
                                float* __restrict__ out, int size) {
  extern __shared__ float room[];
  const int all = size * size;
  float *v = room, *half = room + all;
  for (int j = threadIdx.x; j < all; j += blockDim.x) v[j] = in[(size_t)blockIdx.x * all + j];
  __syncthreads();
  for (int j = threadIdx.x; j < all; j += blockDim.x) {
    const int row = j / size, column = j % size;
    float sum = 0.0f;
    for (int i = 0; i < size; i++) sum += a[row * size + i] * v[i * size + column];
    half[j] = sum;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < all; j += blockDim.x) {
    const int row = j / size, column = j % size;
    float sum = 0.0f;
    for (int i = 0; i < size; i++) sum += half[row * size + i] * b[column * size + i];
    out[(size_t)blockIdx.x * all + j] = sum;
  }
}

// A matrix whose diagonals are constant, times a vector: diagonal d is terms[d + n - 1].
__global__ void toeplitz_apply(const float* __restrict__ terms, const float* __restrict__ in, float* __restrict__ out,
                               int n) {
  extern __shared__ float tile[];
  const int k = own_index();
  float sum = 0.0f;
  for (int start = 0; start < n; start += blockDim.x) {
    const int own = start + threadIdx.x, count = min((int)blockDim.x, n - start);
    if (own < n) tile[threadIdx.x] = in[own];
    __syncthreads();
    if (k < n) {
      const float* diagonal = terms + k - start + n - 1;
      for (int j = 0; j < count; j++) sum += diagonal[-j] * tile[j];
    }
    __syncthreads();
  }
  if (k < n) out[k] = sum;
}

// ------------------------------------------------------------------------------------------ sparse matrices and graphs

// A sparse matrix times a vector; each thread takes as many elements as another, and adds at the ends of rows.
__global__ void balanced_spmv(const int* __restrict__ starts, const int* __restrict__ members,
                              const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ out,
                              int rows, int size, int each) {
  const int first = own_index() * each, last = min(first + each, size);
  if (first >= size) return;
  int low = 0, high = rows;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (starts[middle] <= first)
      low = middle;
    else
      high = middle;
  }
  int row = low, end = starts[row + 1];
  float sum = 0.0f;
  for (int j = first; j < last; j++) {
    while (j >= end) {
      if (sum != 0.0f) atomicAdd(&out[row], sum);
      sum = 0.0f;
      end = starts[++row + 1];
    }
    sum += values[j] * x[members[j]];
  }
  atomicAdd(&out[row], sum);
}

// How many different columns a row of the square of a sparse matrix has; a warp per row with a table of 512 places.
__global__ void symbolic_widths(const int* __restrict__ starts, const int* __restrict__ members, int* __restrict__ out,
                                int rows) {
  extern __shared__ int tables[];
  const int lane = threadIdx.x % 32, row = own_index() / 32;
  int* table = tables + threadIdx.x / 32 * 512;
  for (int j = lane; j < 512; j += 32) table[j] = -1;
  __syncwarp();
  if (row >= rows) return;
  int fresh = 0;
  for (int j = starts[row]; j < starts[row + 1]; j++) {
    const int middle = members[j], last = starts[middle + 1];
    for (int i = starts[middle] + lane; i < last; i += 32) {
      const int column = members[i];
      u32 place = hashed(column) & 511;
      for (;;) {
        const int found = atomicCAS(&table[place], -1, column);
        if (found == -1) fresh++;
        if (found == -1 || found == column) break;
        place = (place + 1) & 511;
      }
    }
  }
  fresh = lanes_sum(fresh);
  if (lane == 0) out[row] = fresh;
}

// Means of the neighbours' 32 features; a warp per node.
__global__ void neighbour_means(const int* __restrict__ starts, const int* __restrict__ members,
                                const float* __restrict__ features, float* __restrict__ out, int nodes) {
  const int lane = threadIdx.x % 32, node = own_index() / 32;
  if (node >= nodes) return;
  const int first = starts[node], last = starts[node + 1];
  float sum = 0.0f;
  for (int j = first; j < last; j++) sum += features[members[j] * 32 + lane];
  out[node * 32 + lane] = sum / max(last - first, 1);
}

// A number of neighbours of each node, drawn with repetition; a thread per node and draw.
__global__ void sampled_neighbours(const int* __restrict__ starts, const int* __restrict__ members,
                                   int* __restrict__ out, int nodes, int draws, u32 seed) {
  const int k = own_index();
  if (k >= nodes * draws) return;
  const int node = k / draws, first = starts[node], count = starts[node + 1] - first;
  Random random(k, seed);
  out[k] = count ? members[first + random.below(count)] : -1;
}

__device__ __forceinline__ int top_of(volatile int* parents, int k) {
  for (int above = parents[k]; above != k; above = parents[k]) k = above;
  return k;
}

// Parts of many small graphs, a block per graph: along each edge the greater top hangs itself below the smaller one.
__global__ void union_edges(const int2* __restrict__ edges, int* __restrict__ out, int nodes, int each) {
  extern __shared__ int parents[];
  for (int j = threadIdx.x; j < nodes; j += blockDim.x) parents[j] = j;
  __syncthreads();
  for (int j = threadIdx.x; j < each; j += blockDim.x) {
    int2 ends = edges[blockIdx.x * each + j];
    for (;;) {
      ends.x = top_of(parents, ends.x);
      ends.y = top_of(parents, ends.y);
      const int low = min(ends.x, ends.y), high = max(ends.x, ends.y);
      if (low == high || atomicCAS(&parents[high], high, low) == high) break;
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < nodes; j += blockDim.x) out[blockIdx.x * nodes + j] = top_of(parents, j);
}

// ------------------------------------------------------------------------------------------------- strings and hashing

// How often a pattern stands in each piece of a text, ends beyond the piece included (Knuth, Morris, Pratt).
__global__ void kmp_counts(const u8* __restrict__ text, const u8* __restrict__ pattern, const int* __restrict__ backs,
                           int* __restrict__ out, int size, int length, int piece) {
  __shared__ int own_backs[64];
  __shared__ u8 own_pattern[64];
  for (int j = threadIdx.x; j < length; j += blockDim.x) {
    own_backs[j] = backs[j];
    own_pattern[j] = pattern[j];
  }
  __syncthreads();
  const int k = own_index(), first = k * piece, last = min(first + piece + length - 1, size);
  if (first >= size) return;
  int held = 0, found = 0;
  for (int j = first; j < last; j++) {
    const u8 letter = text[j];
    while (held && own_pattern[held] != letter) held = own_backs[held - 1];
    held += own_pattern[held] == letter;
    if (held == length) {
      found++;
      held = own_backs[held - 1];
    }
  }
  out[k] = found;
}

// Ends of places in texts where a pattern stands with two changed letters at most; masks: where each letter stands.
__global__ void bitap_changed(const u8* __restrict__ texts, const u32* __restrict__ masks, int* __restrict__ out, int n,
                              int length, u32 last) {
  __shared__ u32 own[256];
  for (int j = threadIdx.x; j < 256; j += blockDim.x) own[j] = masks[j];
  __syncthreads();
  const int k = own_index();
  if (k >= n) return;
  u32 right = 0, once = 0, twice = 0;
  int found = 0;
  for (int j = 0; j < length; j++) {
    const u32 here = own[texts[k * length + j]];
    twice = ((twice << 1 | 1) & here) | (once << 1 | 1);
    once = ((once << 1 | 1) & here) | (right << 1 | 1);
    right = (right << 1 | 1) & here;
    found += (twice & last) != 0;
  }
  out[k] = found;
}

// The length of the longest common subsequence of 64 letters of four kinds and a longer text, a word per step.
__global__ void lcs_by_words(const u8* __restrict__ firsts, const u8* __restrict__ seconds, int* __restrict__ out,
                             int n, int length) {
  const int k = own_index();
  if (k >= n) return;
  u64 places[4] = {};
  for (int j = 0; j < 64; j++) {
    const u8 letter = firsts[k * 64 + j];
#pragma unroll
    for (int c = 0; c < 4; c++) places[c] |= (u64)(letter == c) << j;
  }
  u64 open = ~0ull;
  for (int j = 0; j < length; j++) {
    const u8 letter = seconds[j * n + k];
    const u64 here = letter & 2 ? (letter & 1 ? places[3] : places[2]) : letter & 1 ? places[1] : places[0];
    const u64 both = open & here;
    open = (open + both) | (open - both);
  }
  out[k] = __popcll(~open);
}

// Hashes of records of different lengths by products of 128 bits.
__global__ void wide_mix_records(const u64* __restrict__ words, const int* __restrict__ starts, u64* __restrict__ out,
                                 int n) {
  const int k = own_index();
  if (k >= n) return;
  const int first = starts[k], last = starts[k + 1];
  u64 state = 0x9e3779b97f4a7c15ull ^ (last - first);
  for (int j = first; j < last; j++) {
    const u64 a = words[j] ^ 0xa0761d6478bd642full, b = state ^ 0xe7037ed1a0b428dbull;
    state = (a * b) ^ __umul64hi(a, b);
  }
  out[k] = state ^ state >> 32;
}

// ------------------------------------------------------------------------------------------------- sorting and counting

// Each thread sorts a row of its own in local memory by a heap.
__global__ void heap_sorted_rows(const u16* __restrict__ in, u16* __restrict__ out, int n, int length) {
  const int k = own_index();
  if (k >= n) return;
  u16 heap[64];
  for (int j = 0; j < length; j++) heap[j] = in[j * n + k];
  for (int root = length / 2 - 1, end = length; end > 1;) {
    u16 sinking;
    int at;
    if (root >= 0) {
      at = root--;
      sinking = heap[at];
    } else {
      at = 0;
      sinking = heap[--end];
      heap[end] = heap[0];
    }
    for (int child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && heap[child + 1] > heap[child]) child++;
      if (heap[child] <= sinking) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = sinking;
  }
  for (int j = 0; j < length; j++) out[j * n + k] = heap[j];
}

// The number of a given rank in each row, by parting the row again and again (Hoare).
__global__ void quick_select_rows(const int* __restrict__ in, int* __restrict__ out, int n, int length, int rank) {
  const int k = own_index();
  if (k >= n) return;
  int row[96];
  for (int j = 0; j < length; j++) row[j] = in[k * length + j];
  int low = 0, high = length - 1;
  while (low < high) {
    const int pivot = row[rank];
    int i = low, j = high;
    while (i <= j) {
      while (row[i] < pivot) i++;
      while (row[j] > pivot) j--;
      if (i > j) break;
      const int held = row[i];
      row[i++] = row[j];
      row[j--] = held;
    }
    if (j < rank) low = i;
    if (i > rank) high = j;
  }
  out[k] = row[rank];
}

// The k-th smallest number below 2^20 of each row: the answer's range is halved, a block counts what lies below.
__global__ void kth_by_halving(const int* __restrict__ in, int* __restrict__ out, int length, int rank) {
  __shared__ int below;
  const int* own = in + (size_t)blockIdx.x * length;
  int low = 0, high = 1 << 20;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (threadIdx.x == 0) below = 0;
    __syncthreads();
    int count = 0;
    for (int j = threadIdx.x; j < length; j += blockDim.x) count += own[j] < middle;
    count = lanes_sum(count);
    if (threadIdx.x % 32 == 0) atomicAdd(&below, count);
    __syncthreads();
    if (below <= rank)
      low = middle;
    else
      high = middle;
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = low;
}

// Sorts pairs of key and value, 1024 per block, by a bitonic network in shared memory.
__global__ void key_value_bitonic(const u32* __restrict__ keys, u32* __restrict__ out, u32* __restrict__ places) {
  __shared__ u32 held[1024], from[1024];
  const int start = blockIdx.x * 1024;
  for (int j = threadIdx.x; j < 1024; j += blockDim.x) {
    held[j] = keys[start + j];
    from[j] = j;
  }
  for (int width = 2; width <= 1024; width *= 2) {
    for (int step = width / 2; step; step /= 2) {
      __syncthreads();
      for (int j = threadIdx.x; j < 512; j += blockDim.x) {
        const int a = 2 * j - (j & (step - 1)), b = a + step;
        const u32 x = held[a], y = held[b], u = from[a], v = from[b];
        const bool greater = x > y || (x == y && u > v);
        if (greater == !(a & width)) {
          held[a] = y;
          held[b] = x;
          from[a] = v;
          from[b] = u;
        }
      }
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 1024; j += blockDim.x) {
    out[start + j] = held[j];
    places[start + j] = from[j];
  }
}

// Counts of eight kinds by votes: each warp takes a stretch, three votes tell the kind of 32 elements.
__global__ void ballot_bins(const u8* __restrict__ kinds, int* __restrict__ out, int n, int each) {
  const int lane = threadIdx.x % 32, first = own_index() / 32 * each, last = min(first + each, n);
  int count = 0;
  for (int j = first; j < last; j += 32) {
    const bool in_reach = j + lane < last;
    const u32 kind = in_reach ? kinds[j + lane] : 0;
    u32 same = __ballot_sync(EVERY_LANE, in_reach);
#pragma unroll
    for (int bit = 0; bit < 3; bit++) {
      const u32 vote = __ballot_sync(EVERY_LANE, kind >> bit & 1);
      same &= lane >> bit & 1 ? vote : ~vote;
    }
    count += __popc(same);
  }
  if (lane < 8 && count) atomicAdd(&out[lane], count);
}

// How many numbers have each exponent: in shared memory, then all blocks together.
__global__ void exponent_bins(const float* __restrict__ in, u32* __restrict__ out, int n) {
  __shared__ u32 bins[256];
  for (int j = threadIdx.x; j < 256; j += blockDim.x) bins[j] = 0;
  __syncthreads();
  for (int j = own_index(); j < n; j += gridDim.x * blockDim.x) atomicAdd(&bins[__float_as_uint(in[j]) >> 23 & 255], 1);
  __syncthreads();
  for (int j = threadIdx.x; j < 256; j += blockDim.x)
    if (bins[j]) atomicAdd(&out[j], bins[j]);
}

// --------------------------------------------------------------------------------------------------------- simulations

// A step of waves on a membrane that is held at its edge; blocks keep their part and its border in shared memory.
__global__ void membrane_step(const float* __restrict__ now, const float* __restrict__ before, float* __restrict__ next,
                              int width, int height, float speed) {
  extern __shared__ float part[];
  const int wide = blockDim.x + 2, high = blockDim.y + 2;
  const int left = blockIdx.x * blockDim.x - 1, top = blockIdx.y * blockDim.y - 1;
  for (int j = threadIdx.y * blockDim.x + threadIdx.x; j < wide * high; j += blockDim.x * blockDim.y) {
    const int x = left + j % wide, y = top + j / wide;
    part[j] = x >= 0 && y >= 0 && x < width && y < height ? now[y * width + x] : 0.0f;
  }
  __syncthreads();
  const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float* own = part + (threadIdx.y + 1) * wide + threadIdx.x + 1;
  const float bent = own[-1] + own[1] + own[-wide] + own[wide] - 4.0f * own[0];
  next[y * width + x] = 2.0f * own[0] - before[y * width + x] + speed * bent;
}

// Lines of speeds that carry themselves along (Burgers, upwind), around; a block per line, all steps in shared memory.
__global__ void burgers_lines(const float* __restrict__ in, float* __restrict__ out, int cells, int steps, float step) {
  extern __shared__ float lines[];
  float *now = lines, *next = lines + cells;
  for (int j = threadIdx.x; j < cells; j += blockDim.x) now[j] = in[blockIdx.x * cells + j];
  __syncthreads();
  for (int t = 0; t < steps; t++) {
    for (int j = threadIdx.x; j < cells; j += blockDim.x) {
      const float v = now[j], behind = now[j ? j - 1 : cells - 1];
      next[j] = v - step * 0.5f * (v * v - behind * behind);
    }
    __syncthreads();
    float* held = now;
    now = next;
    next = held;
  }
  for (int j = threadIdx.x; j < cells; j += blockDim.x) out[blockIdx.x * cells + j] = now[j];
}

// A step of a burning forest, around: 0 is bare, 1 a tree, 2 a fire. Trees grow, and light falls from the sky.
__global__ void forest_fires(const u8* __restrict__ in, u8* __restrict__ out, int width, int height, u32 seed) {
  const int x = own_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int left = x ? x - 1 : width - 1, right = x + 1 < width ? x + 1 : 0;
  const int up = y ? y - 1 : height - 1, down = y + 1 < height ? y + 1 : 0, own = y * width + x;
  const u8 here = in[own];
  u8 then = 0;
  if (here == 0) {
    then = hashed(own ^ seed) % 100 < 5;
  } else if (here == 1) {
    const bool near = in[y * width + left] == 2 || in[y * width + right] == 2 || in[up * width + x] == 2 ||
                      in[down * width + x] == 2;
    then = near || hashed(own ^ seed) % 5000 == 0 ? 2 : 1;
  }
  out[own] = then;
}

// Angles on a square grid, around, every second one is mirrored at the direction of its four neighbours.
__global__ void mirrored_rotors(const float* __restrict__ in, float* __restrict__ out, int side, int odd) {
  const int k = own_index();
  if (k >= side * side) return;
  const int x = k % side, y = k / side;
  float angle = in[k];
  if ((x + y) % 2 == odd) {
    const int near[4] = {y * side + (x + 1) % side, y * side + (x + side - 1) % side, (y + 1) % side * side + x,
                         (y + side - 1) % side * side + x};
    float east = 0.0f, north = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float s, c;
      sincosf(in[near[j]], &s, &c);
      east += c;
      north += s;
    }
    angle = 2.0f * atan2f(north, east) - angle;
  }
  out[k] = angle;
}

__device__ __forceinline__ float flatter(float a, float b) {
  return a * b <= 0.0f ? 0.0f : fabsf(a) < fabsf(b) ? a : b;
}

// A step of a density that moves to the right with limited slopes; a thread per cell, in rows that go around.
__global__ void minmod_transport(const float* __restrict__ in, float* __restrict__ out, int rows, int cells,
                                 float share) {
  const int k = own_index();
  if (k >= rows * cells) return;
  const int row = k / cells, j = k - row * cells;
  const float* own = in + row * cells;
  const float far = own[(j + cells - 2) % cells], behind = own[(j + cells - 1) % cells], here = own[j];
  const float ahead = own[(j + 1) % cells], rest = 0.5f * (1.0f - share);
  const float comes = behind + rest * flatter(behind - far, here - behind);
  const float goes = here + rest * flatter(here - behind, ahead - here);
  out[k] = here - share * (goes - comes);
}

// The squared residual of Poisson's equation on a grid: five points each, a sum per block, then one atomic.
__global__ void residual_norm(const double* __restrict__ u, const double* __restrict__ right, double* __restrict__ out,
                              int width, int height) {
  __shared__ double sums[32];
  const int x = own_index() + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  double sum = 0.0;
  if (x < width - 1 && y < height - 1) {
    const int k = y * width + x;
    const double miss = right[k] - (4.0 * u[k] - u[k - 1] - u[k + 1] - u[k - width] - u[k + width]);
    sum = miss * miss;
  }
  sum = lanes_sum(sum);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread % 32 == 0) sums[thread / 32] = sum;
  __syncthreads();
  if (thread) return;
  for (int w = 1; w < blockDim.x * blockDim.y / 32; w++) sum += sums[w];
  atomicAdd(out, sum);
}

// Illnesses in towns, meeting by meeting, until nobody is ill: how many were ill.
__global__ void outbreaks(int* __restrict__ out, int n, int people, u32 contagion, u32 seed) {
  const int k = own_index();
  if (k >= n) return;
  Random random(k, seed);
  int healthy = people - 1, ill = 1;
  while (ill) {
    const u32 catching = contagion * healthy, healing = 10 * people;
    if (random.below(catching + healing) < catching) {
      healthy--;
      ill++;
    } else {
      ill--;
    }
  }
  out[k] = people - healthy;
}

// Payoffs of options that die where the price passes a barrier; a thread per path.
__global__ void knock_out_options(float* __restrict__ out, int n, int steps, float drift, float spread, float barrier,
                                  u32 seed) {
  const int k = own_index();
  if (k >= n) return;
  Random random(k, seed);
  float logarithm = 0.0f;
  bool alive = true;
  for (int t = 0; t < steps && alive; t++) {
    const float u = random.part(), v = random.part();
    logarithm += drift + spread * sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
    alive = logarithm < barrier;
  }
  out[k] = alive ? fmaxf(expf(logarithm) - 1.0f, 0.0f) : 0.0f;
}

// Players with some coins win or lose one per throw until they have none or the goal: the throws, negative for ruin.
__global__ void ruined_players(int* __restrict__ out, int n, int coins, int goal, u32 seed) {
  const int k = own_index();
  if (k >= n) return;
  Random random(k, seed);
  int held = coins, throws = 0;
  u32 bits = 0;
  while (held && held < goal) {
    if (throws % 32 == 0) bits = random.word();
    held += bits & 1 ? 1 : -1;
    bits >>= 1;
    throws++;
  }
  out[k] = held ? throws : -throws;
}

// Sums of two combined recurrences of order three, modulo two primes below 2^32 (L'Ecuyer's MRG32k3a).
__global__ void combined_recurrences(u64* __restrict__ out, int n, int draws) {
  const int k = own_index();
  if (k >= n) return;
  const u64 m = 4294967087ull, p = 4294944443ull;
  u64 a[3], b[3], sum = 0;
#pragma unroll
  for (int j = 0; j < 3; j++) {
    a[j] = hashed(6 * k + j);
    b[j] = hashed(6 * k + 3 + j) % p;
    a[j] %= m;
  }
  for (int t = 0; t < draws; t++) {
    const u64 x = (1403580ull * a[1] + (m - 810728ull) * a[0] % m) % m;
    const u64 y = (527612ull * b[2] + (p - 1370589ull) * b[0] % p) % p;
    a[0] = a[1];
    a[1] = a[2];
    a[2] = x;
    b[0] = b[1];
    b[1] = b[2];
    b[2] = y;
    sum += x >= y ? x - y : x + m - y;
  }
  out[k] = sum;
}

__device__ __forceinline__ u64 wide_turned(u64 x, int by) { return x << by | x >> (64 - by); }

// Sums of words of 64 bits from a state of four words (xoshiro256**).
__global__ void four_word_streams(u64* __restrict__ out, int n, int draws) {
  const int k = own_index();
  if (k >= n) return;
  u64 a = hashed(k) | 1, b = hashed(k + 1), c = hashed(k + 2), d = hashed(k + 3), sum = 0;
  for (int t = 0; t < draws; t++) {
    sum += wide_turned(b * 5, 7) * 9;
    const u64 shifted = b << 17;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = wide_turned(d, 45);
  }
  out[k] = sum;
}

// Random words as sums of two older ones, 24 and 55 back, in a ring in local memory.
__global__ void lagged_draws(u32* __restrict__ out, int n, int draws) {
  const int k = own_index();
  if (k >= n) return;
  u32 ring[55], folded = 0;
  for (int j = 0; j < 55; j++) ring[j] = hashed(55 * k + j);
  int at = 0, other = 31;
  for (int t = 0; t < draws; t++) {
    const u32 fresh = ring[at] + ring[other];
    ring[at] = fresh;
    folded = folded * 33 ^ fresh;
    at = at == 54 ? 0 : at + 1;
    other = other == 54 ? 0 : other + 1;
  }
  out[k] = folded;
}

// Orbits around a sun in double precision, by leaps of position and speed; the distance at the end.
__global__ void orbit_leaps(const double* __restrict__ starts, double* __restrict__ out, int n, int steps,
                            double step) {
  const int k = own_index();
  if (k >= n) return;
  double x = 1.0 + starts[k], y = 0.0, across = 0.0, along = 1.0;
  for (int t = 0; t < steps; t++) {
    x += 0.5 * step * across;
    y += 0.5 * step * along;
    const double square = x * x + y * y, pull = step / (square * sqrt(square));
    across -= pull * x;
    along -= pull * y;
    x += 0.5 * step * across;
    y += 0.5 * step * along;
  }
  out[k] = sqrt(x * x + y * y);
}

// Pairs of atoms that swing in a Morse potential; the sum of what the springs held at all steps.
__global__ void dimer_swings(const float* __restrict__ starts, float* __restrict__ out, int n, int steps, float step) {
  const int k = own_index();
  if (k >= n) return;
  float apart = starts[k], speed = 0.0f, held = 0.0f;
  for (int t = 0; t < steps; t++) {
    apart += step * speed;
    const float fall = __expf(-apart), lack = 1.0f - fall;
    speed -= 2.0f * step * lack * fall;
    held += lack * lack;
  }
  out[k] = held;
}

// ------------------------------------------------------------------------------------------------------ small matrices

// Exponentials of matrices of 3 x 3 doubles: halved often, a series, then squared as often.
__global__ void matrix_exponentials(const double* __restrict__ in, double* __restrict__ out, int n, int halvings) {
  const int k = own_index();
  if (k >= n) return;
  double a[9], sum[9], term[9], product[9];
#pragma unroll
  for (int j = 0; j < 9; j++) {
    a[j] = scalbn(in[j * n + k], -halvings);
    sum[j] = term[j] = j % 4 == 0;
  }
  for (int order = 1; order <= 10; order++) {
#pragma unroll
    for (int j = 0; j < 9; j++)
      product[j] = (term[j / 3 * 3] * a[j % 3] + term[j / 3 * 3 + 1] * a[j % 3 + 3] + term[j / 3 * 3 + 2] * a[j % 3 + 6]) /
                   order;
#pragma unroll
    for (int j = 0; j < 9; j++) sum[j] += term[j] = product[j];
  }
  for (int h = 0; h < halvings; h++) {
#pragma unroll
    for (int j = 0; j < 9; j++)
      product[j] = sum[j / 3 * 3] * sum[j % 3] + sum[j / 3 * 3 + 1] * sum[j % 3 + 3] + sum[j / 3 * 3 + 2] * sum[j % 3 + 6];
#pragma unroll
    for (int j = 0; j < 9; j++) sum[j] = product[j];
  }
#pragma unroll
  for (int j = 0; j < 9; j++) out[j * n + k] = sum[j];
}

// The rotation in a matrix of 3 x 3: the mean of the matrix and its inverse transposed, again and again.
__global__ void polar_rotations(const float* __restrict__ in, float* __restrict__ out, int n, int turns) {
  const int k = own_index();
  if (k >= n) return;
  float m[9];
#pragma unroll
  for (int j = 0; j < 9; j++) m[j] = in[9 * k + j] + (j % 4 == 0 ? 2.0f : 0.0f);
  for (int t = 0; t < turns; t++) {
    float c[9];
#pragma unroll
    for (int j = 0; j < 9; j++) {
      const int r = j / 3, s = j % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3, s1 = (s + 1) % 3, s2 = (s + 2) % 3;
      c[j] = m[3 * r1 + s1] * m[3 * r2 + s2] - m[3 * r1 + s2] * m[3 * r2 + s1];
    }
    const float over = 1.0f / (m[0] * c[0] + m[1] * c[1] + m[2] * c[2]);
#pragma unroll
    for (int j = 0; j < 9; j++) m[j] = 0.5f * (m[j] + over * c[j]);
  }
#pragma unroll
  for (int j = 0; j < 9; j++) out[9 * k + j] = m[j];
}

// Products in tiles of 16 SIZE rows and columns, 256 threads with SIZE x SIZE sums each; whole tiles only.
template <int SIZE>
__global__ void outer_tiles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n,
                            int inner) {
  __shared__ float left[8][16 * SIZE + 4], right[8][16 * SIZE];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, wide = 16 * SIZE;
  const int row = blockIdx.y * wide, column = blockIdx.x * wide;
  float sums[SIZE][SIZE] = {};
  for (int k = 0; k < inner; k += 8) {
    for (int j = threadIdx.x; j < 8 * wide; j += 256) {
      left[j % 8][j / 8] = a[(row + j / 8) * inner + k + j % 8];
      right[j / wide][j % wide] = b[(k + j / wide) * n + column + j % wide];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) {
      float u[SIZE], v[SIZE];
#pragma unroll
      for (int j = 0; j < SIZE; j++) {
        u[j] = left[i][y * SIZE + j];
        v[j] = right[i][x + 16 * j];
      }
#pragma unroll
      for (int r = 0; r < SIZE; r++) {
#pragma unroll
        for (int s = 0; s < SIZE; s++) sums[r][s] += u[r] * v[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < SIZE; r++) {
#pragma unroll
    for (int s = 0; s < SIZE; s++) c[(row + y * SIZE + r) * n + column + x + 16 * s] = sums[r][s];
  }
}

// Tridiagonal systems of 32 unknowns, one per warp: each step halves how far the neighbours are coupled.
__global__ void coupled_lanes(const float* __restrict__ lower, const float* __restrict__ upper,
                              const float* __restrict__ right, float* __restrict__ out, int n) {
  const int k = own_index(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  float a = lane ? -lower[k] : 0.0f, c = lane < 31 ? -upper[k] : 0.0f, b = 2.5f, d = right[k];
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const float a1 = __shfl_up_sync(EVERY_LANE, a, step), b1 = __shfl_up_sync(EVERY_LANE, b, step);
    const float c1 = __shfl_up_sync(EVERY_LANE, c, step), d1 = __shfl_up_sync(EVERY_LANE, d, step);
    const float a2 = __shfl_down_sync(EVERY_LANE, a, step), b2 = __shfl_down_sync(EVERY_LANE, b, step);
    const float c2 = __shfl_down_sync(EVERY_LANE, c, step), d2 = __shfl_down_sync(EVERY_LANE, d, step);
    const float low = lane >= step ? -a / b1 : 0.0f, high = lane + step < 32 ? -c / b2 : 0.0f;
    b += low * c1 + high * a2;
    d += low * d1 + high * d2;
    a = low * a1;
    c = high * c2;
  }
  out[k] = d / b;
}

// ------------------------------------------------------------------------------------------------ pictures and spectra

// Medians of 5 x 5 points of 64 levels, by counting them in local memory.
__global__ void median_by_counts(const u8* __restrict__ in, u8* __restrict__ out, int width, int height) {
  const int x = own_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  u8 counts[64];
  for (int j = 0; j < 64; j++) counts[j] = 0;
  for (int dy = -2; dy <= 2; dy++) {
    for (int dx = -2; dx <= 2; dx++)
      counts[in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)]]++;
  }
  int level = 0;
  for (int seen = counts[0]; seen < 13; seen += counts[++level]) {
  }
  out[y * width + x] = level;
}

// A picture as a camera would see it from elsewhere: nine numbers of a projection, four points mixed, black outside.
__global__ void homography_view(const u8* __restrict__ in, const float* __restrict__ turn, float* __restrict__ out,
                                int width, int height) {
  const int x = own_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float over = 1.0f / (turn[6] * x + turn[7] * y + turn[8]);
  const float u = (turn[0] * x + turn[1] * y + turn[2]) * over, v = (turn[3] * x + turn[4] * y + turn[5]) * over;
  float found = 0.0f;
  if (u >= 0.0f && v >= 0.0f && u < width - 1 && v < height - 1) {
    const int left = u, top = v;
    const float s = u - left, t = v - top;
    const u8* at = in + top * width + left;
    found = (1.0f - t) * ((1.0f - s) * at[0] + s * at[1]) + t * ((1.0f - s) * at[width] + s * at[width + 1]);
  }
  out[y * width + x] = found;
}

// Colours of three bytes as words of 5, 6 and 5 bits.
__global__ void packed_565(const u8* __restrict__ in, u16* __restrict__ out, int n) {
  const int k = own_index();
  if (k >= n) return;
  const u8 red = in[3 * k], green = in[3 * k + 1], blue = in[3 * k + 2];
  out[k] = red >> 3 << 11 | green >> 2 << 5 | blue >> 3;
}

// Mosaics: each block of threads paints its part of the picture in the part's mean.
__global__ void mosaic_means(const u8* __restrict__ in, u8* __restrict__ out, int width, int height) {
  __shared__ int sum, count;
  const int x = own_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (threadIdx.x == 0 && threadIdx.y == 0) sum = count = 0;
  __syncthreads();
  const bool inside = x < width && y < height;
  if (inside) {
    atomicAdd(&sum, in[y * width + x]);
    atomicAdd(&count, 1);
  }
  __syncthreads();
  if (inside) out[y * width + x] = sum / count;
}

// Bright pictures for dark screens: Reinhard's curve on the brightness, then the screen's power.
__global__ void tone_mapped(const float* __restrict__ in, u8* __restrict__ out, int n, float key, float white) {
  const int k = own_index();
  if (k >= n) return;
  const float r = in[3 * k], g = in[3 * k + 1], b = in[3 * k + 2], light = 0.2126f * r + 0.7152f * g + 0.0722f * b;
  const float scaled = key * light, mapped = scaled * (1.0f + scaled / (white * white)) / (1.0f + scaled);
  const float factor = mapped / fmaxf(light, 1e-6f), three[3] = {r, g, b};
#pragma unroll
  for (int j = 0; j < 3; j++) out[3 * k + j] = 255.0f * powf(fminf(factor * three[j], 1.0f), 1.0f / 2.2f) + 0.5f;
}

// How far each point stands from the mean around it, in standard deviations; 7 x 7 points from shared memory.
__global__ void local_contrasts(const u8* __restrict__ in, float* __restrict__ out, int width, int height) {
  extern __shared__ u8 area[];
  const int wide = blockDim.x + 6, high = blockDim.y + 6;
  for (int j = threadIdx.y * blockDim.x + threadIdx.x; j < wide * high; j += blockDim.x * blockDim.y) {
    const int x = (int)(blockIdx.x * blockDim.x) - 3 + j % wide, y = (int)(blockIdx.y * blockDim.y) - 3 + j / wide;
    area[j] = in[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
  }
  __syncthreads();
  const int x = own_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0, squares = 0;
#pragma unroll
  for (int dy = 0; dy < 7; dy++) {
#pragma unroll
    for (int dx = 0; dx < 7; dx++) {
      const int v = area[(threadIdx.y + dy) * wide + threadIdx.x + dx];
      sum += v;
      squares += v * v;
    }
  }
  const float spread = 49.0f * squares - (float)sum * sum;
  out[y * width + x] = (49.0f * area[(threadIdx.y + 3) * wide + threadIdx.x + 3] - sum) * rsqrtf(spread + 1.0f);
}

// Spectra of real signals from complex ones of half the length: even and odd points come apart.
__global__ void real_halves(const float2* __restrict__ in, float2* __restrict__ out, int signals, int half) {
  const int k = own_index();
  if (k >= signals * half) return;
  const int signal = k / half, j = k % half;
  const float2 a = in[k], b = in[signal * half + (j ? half - j : 0)];
  const float2 even = make_float2(0.5f * (a.x + b.x), 0.5f * (a.y - b.y));
  const float2 odd = make_float2(0.5f * (a.y + b.y), 0.5f * (b.x - a.x));
  float s, c;
  sincospif(-(float)j / half, &s, &c);
  out[k] = make_float2(even.x + c * odd.x - s * odd.y, even.y + c * odd.y + s * odd.x);
}

__device__ __forceinline__ void turn_by(float2& v, float c, float s) {
  v = make_float2(c * v.x - s * v.y, c * v.y + s * v.x);
}

// Fourier transforms of 12 points in registers, a thread each: three by four.
__global__ void fourier_of_12(const float2* __restrict__ in, float2* __restrict__ out, int n) {
  const int k = own_index();
  if (k >= n) return;
  float2 v[12];
#pragma unroll
  for (int j = 0; j < 12; j++) v[j] = in[j * n + k];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const float2 a = v[j], b = v[j + 4], c = v[j + 8], sum = make_float2(b.x + c.x, b.y + c.y);
    const float2 apart = make_float2(0.8660254f * (b.y - c.y), 0.8660254f * (c.x - b.x));
    const float2 middle = make_float2(a.x - 0.5f * sum.x, a.y - 0.5f * sum.y);
    v[j] = make_float2(a.x + sum.x, a.y + sum.y);
    v[j + 4] = make_float2(middle.x + apart.x, middle.y + apart.y);
    v[j + 8] = make_float2(middle.x - apart.x, middle.y - apart.y);
  }
  turn_by(v[5], 0.8660254f, -0.5f);
  turn_by(v[6], 0.5f, -0.8660254f);
  turn_by(v[7], 0.0f, -1.0f);
  turn_by(v[9], 0.5f, -0.8660254f);
  turn_by(v[10], -0.5f, -0.8660254f);
  turn_by(v[11], -1.0f, 0.0f);
#pragma unroll
  for (int r = 0; r < 3; r++) {
    const float2 a = v[4 * r], b = v[4 * r + 1], c = v[4 * r + 2], d = v[4 * r + 3];
    const float2 p = make_float2(a.x + c.x, a.y + c.y), q = make_float2(a.x - c.x, a.y - c.y);
    const float2 u = make_float2(b.x + d.x, b.y + d.y), w = make_float2(b.y - d.y, d.x - b.x);
    out[r * n + k] = make_float2(p.x + u.x, p.y + u.y);
    out[(r + 3) * n + k] = make_float2(q.x + w.x, q.y + w.y);
    out[(r + 6) * n + k] = make_float2(p.x - u.x, p.y - u.y);
    out[(r + 9) * n + k] = make_float2(q.x - w.x, q.y - w.y);
  }
}

// Hartley transforms, straight from their sums: cos + sin from a table in shared memory; a block per row.
__global__ void hartley_rows(const float* __restrict__ in, float* __restrict__ out, int length) {
  extern __shared__ float both[];
  float *table = both, *row = both + length;
  for (int j = threadIdx.x; j < length; j += blockDim.x) {
    float s, c;
    sincospif(2.0f * j / length, &s, &c);
    table[j] = s + c;
    row[j] = in[blockIdx.x * length + j];
  }
  __syncthreads();
  for (int k = threadIdx.x; k < length; k += blockDim.x) {
    float sum = 0.0f;
    int at = 0;
    for (int j = 0; j < length; j++) {
      sum += row[j] * table[at];
      at += k;
      if (at >= length) at -= length;
    }
    out[blockIdx.x * length + k] = sum;
  }
}

// ---------------------------------------------------------------------------------------------- warps, groups, clusters

// Running greatest numbers within pieces of SIZE neighbours, by groups of so many threads.
template <int SIZE>
__global__ void tile_prefix(const int* __restrict__ in, int* __restrict__ out, int n) {
  const auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
  const int k = own_index();
  int v = k < n ? in[k] : 0;
#pragma unroll
  for (int step = 1; step < SIZE; step *= 2) {
    const int before = tile.shfl_up(v, step);
    if (tile.thread_rank() >= step) v = max(v, before);
  }
  if (k < n) out[k] = v;
}

// Squares of 32 x 32 words are transposed in registers: five exchanges between lanes, each of half the words.
__global__ void lanes_transposed(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int lane = threadIdx.x % 32, square = own_index() / 32;
  if (square >= n) return;
  u32 row[32];
#pragma unroll
  for (int j = 0; j < 32; j++) row[j] = in[(square * 32 + j) * 32 + lane];
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2) {
    const bool upper = lane & bit;
#pragma unroll
    for (int j = 0; j < 32; j++) {
      if (j & bit) continue;
      const u32 gone = __shfl_xor_sync(EVERY_LANE, upper ? row[j] : row[j | bit], bit);
      if (upper)
        row[j] = gone;
      else
        row[j | bit] = gone;
    }
  }
#pragma unroll
  for (int j = 0; j < 32; j++) out[(square * 32 + j) * 32 + lane] = row[j];
}

// Sum, greatest and mixed bits of rows of words, by the warps' own reductions; a warp per row.
__global__ void redux_digests(const u32* __restrict__ in, u32* __restrict__ out, int rows, int length) {
  const int lane = threadIdx.x % 32, row = own_index() / 32;
  if (row >= rows) return;
  u32 sum = 0, most = 0, mixed = 0;
  for (int j = 0; j < length; j += 32) {
    const u32 v = j + lane < length ? in[row * length + j + lane] : 0;
    sum += __reduce_add_sync(EVERY_LANE, v);
    most = max(most, __reduce_max_sync(EVERY_LANE, v));
    mixed = mixed * 5 + __reduce_xor_sync(EVERY_LANE, v);
  }
  if (lane < 3) out[3 * row + lane] = lane == 0 ? sum : lane == 1 ? most : mixed;
}

// Rings of points are smoothed for many steps; four blocks per ring read their neighbours' ends from shared memory.
__global__ void __cluster_dims__(4) smoothed_rings(const float* __restrict__ in, float* __restrict__ out, int part,
                                                   int steps) {
  extern __shared__ float points[];
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = cluster.block_rank();
  const float* left = cluster.map_shared_rank(points, (rank + 3) % 4);
  const float* right = cluster.map_shared_rank(points, (rank + 1) % 4);
  for (int j = threadIdx.x; j < part; j += blockDim.x) points[j] = in[blockIdx.x * part + j];
  cluster.sync();
  int now = 0;
  for (int t = 0; t < steps; t++) {
    const int then = part - now;
    for (int j = threadIdx.x; j < part; j += blockDim.x) {
      const float before = j ? points[now + j - 1] : left[now + part - 1];
      const float after = j + 1 < part ? points[now + j + 1] : right[now];
      points[then + j] = 0.25f * before + 0.5f * points[now + j] + 0.25f * after;
    }
    cluster.sync();
    now = then;
  }
  for (int j = threadIdx.x; j < part; j += blockDim.x) out[blockIdx.x * part + j] = points[now + j];
}

// The most similar of many rows of 16 numbers for each query, a thread each; 64 rows are copied ahead, asynchronously.
__global__ void async_similar(const float4* __restrict__ queries, const float4* __restrict__ rows,
                              int* __restrict__ out, int n, int tiles) {
  __shared__ float4 held[2][256];
  const int k = own_index();
  float4 q[4];
#pragma unroll
  for (int j = 0; j < 4; j++) q[j] = k < n ? queries[4 * k + j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = threadIdx.x; j < 256; j += blockDim.x) __pipeline_memcpy_async(&held[0][j], &rows[j], 16);
  __pipeline_commit();
  float most = -INFINITY;
  int place = 0;
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles) {
      for (int j = threadIdx.x; j < 256; j += blockDim.x)
        __pipeline_memcpy_async(&held[(t + 1) % 2][j], &rows[(t + 1) * 256 + j], 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int r = 0; r < 64; r++) {
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const float4 v = held[t % 2][4 * r + j];
        sum += q[j].x * v.x + q[j].y * v.y + q[j].z * v.z + q[j].w * v.w;
      }
      if (sum > most) {
        most = sum;
        place = t * 64 + r;
      }
    }
    __syncthreads();
  }
  if (k < n) out[k] = place;
}

// A matrix is transposed in squares of 32 x 32: four words per thread and copy arrive asynchronously; whole squares.
__global__ void async_transposed(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float square[32][36];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32, thread = threadIdx.x;
  for (int j = thread; j < 256; j += blockDim.x)
    __pipeline_memcpy_async(&square[j / 8][j % 8 * 4], &in[(y + j / 8) * width + x + j % 8 * 4], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int j = thread; j < 1024; j += blockDim.x) out[(x + j / 32) * height + y + j % 32] = square[j % 32][j / 32];
}

// ------------------------------------------------------------------------------------------------------- more atomics

// The box around the points of each label: least and greatest x and y.
__global__ void labelled_extents(const int2* __restrict__ points, const int* __restrict__ labels, int* __restrict__ low,
                                 int* __restrict__ high, int n) {
  const int k = own_index();
  if (k >= n) return;
  const int2 p = points[k];
  const int label = labels[k];
  atomicMin(&low[2 * label], p.x);
  atomicMin(&low[2 * label + 1], p.y);
  atomicMax(&high[2 * label], p.x);
  atomicMax(&high[2 * label + 1], p.y);
}

// Guests come to one of some doors; each door sends its guests to its tables in turn, around.
__global__ void seats_in_turn(const int* __restrict__ doors, u32* __restrict__ turns, int* __restrict__ tables, int n,
                              int each) {
  const int k = own_index();
  if (k >= n) return;
  const int door = doors[k];
  atomicAdd(&tables[door * each + atomicInc(&turns[door], each - 1)], 1);
}

// How many different keys there are: each one takes a place of a table of a power of two, looked for in growing steps.
__global__ void distinct_keys(const u32* __restrict__ keys, u32* __restrict__ table, int* __restrict__ out, int n,
                              u32 mask) {
  const int k = own_index();
  bool fresh = false;
  if (k < n) {
    const u32 key = keys[k] + 1;
    u32 place = hashed(key) & mask;
    for (u32 step = 1;; step++) {
      const u32 found = atomicCAS(&table[place], 0u, key);
      fresh = found == 0;
      if (fresh || found == key) break;
      place = (place + step) & mask;
    }
  }
  const u32 votes = __ballot_sync(EVERY_LANE, fresh);
  if (threadIdx.x % 32 == 0 && votes) atomicAdd(out, __popc(votes));
}

// ------------------------------------------------------------------------------------------------ more of networks

// Products of all pairs of a sample's rows of a table, 32 factors each, by the square of the sum; a warp per sample.
__global__ void factor_machine(const float* __restrict__ table, const int* __restrict__ fields, float* __restrict__ out,
                               int samples, int count) {
  const int lane = threadIdx.x % 32, sample = own_index() / 32;
  if (sample >= samples) return;
  float sum = 0.0f, squares = 0.0f;
  for (int j = 0; j < count; j++) {
    const float v = table[fields[sample * count + j] * 32 + lane];
    sum += v;
    squares += v * v;
  }
  const float all = lanes_sum(sum * sum - squares);
  if (lane == 0) out[sample] = 0.5f * all;
}

// A step of gated units: two gates and a candidate from the samples' states alone; a thread per sample and unit.
__global__ void gated_units(const float* __restrict__ states, const float* __restrict__ weights,
                            float* __restrict__ out, int samples, int units) {
  const int unit = own_index(), sample = blockIdx.y;
  if (unit >= units) return;
  const float* state = states + sample * units;
  float update = 0.0f, reset = 0.0f, fresh = 0.0f;
  for (int j = 0; j < units; j++) {
    const float v = state[j];
    update += v * weights[(3 * j) * units + unit];
    reset += v * weights[(3 * j + 1) * units + unit];
    fresh += v * weights[(3 * j + 2) * units + unit];
  }
  update = 1.0f / (1.0f + __expf(-update));
  reset = 1.0f / (1.0f + __expf(-reset));
  out[sample * units + unit] = update * state[unit] + (1.0f - update) * tanhf(reset * fresh);
}

// Steps that are as long as each row's gradients were small (Adafactor's rows), a block per row.
__global__ void row_scaled_steps(const float* __restrict__ gradients, float* __restrict__ weights,
                                 float* __restrict__ memory, int columns, float rate) {
  __shared__ float sums[32];
  __shared__ float factor;
  const size_t start = (size_t)blockIdx.x * columns;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    const float g = gradients[start + j];
    sum += g * g;
  }
  sum = lanes_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = lanes_sum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) {
      const float kept = 0.9f * memory[blockIdx.x] + 0.1f * sum / columns;
      memory[blockIdx.x] = kept;
      factor = rate * rsqrtf(kept + 1e-8f);
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < columns; j += blockDim.x) weights[start + j] -= factor * gradients[start + j];
}

__constant__ float bands[9] = {0.28209479f, 0.48860251f, 0.48860251f, 0.48860251f, 1.09254843f,
                               1.09254843f, 0.31539157f, 1.09254843f, 0.54627422f};

// Colours of points as they are seen from a direction: nine numbers per colour (spherical harmonics).
__global__ void sphere_colours(const float* __restrict__ directions, const float* __restrict__ numbers,
                               float* __restrict__ out, int n) {
  const int k = own_index();
  if (k >= n) return;
  float x = directions[3 * k], y = directions[3 * k + 1], z = directions[3 * k + 2];
  const float over = rsqrtf(x * x + y * y + z * z);
  x *= over;
  y *= over;
  z *= over;
  const float shapes[9] = {1.0f, y, z, x, x * y, y * z, 3.0f * z * z - 1.0f, x * z, x * x - y * y};
#pragma unroll
  for (int c = 0; c < 3; c++) {
    float sum = 0.5f;
#pragma unroll
    for (int j = 0; j < 9; j++) sum += bands[j] * shapes[j] * numbers[(9 * c + j) * n + k];
    out[3 * k + c] = fmaxf(sum, 0.0f);
  }
}

// ------------------------------------------------------------------------------------------- long code and local memory

// Rounds of a mixing function that the compiler writes out one behind the other.
template <int ROUNDS>
__global__ void written_rounds(const u32* __restrict__ in, u32* __restrict__ out, int n, int turns) {
  const int k = own_index();
  if (k >= n) return;
  u32 a = in[k], b = ~a;
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
      a += (b << 5 | b >> 27) ^ (0x9e3779b9u * (r + 1));
      b ^= a * (2 * r + 3);
    }
  }
  out[k] = a ^ b;
}

// Machines with a tape of 64 cells in local memory and five states of their own, until they halt or time is over.
__global__ void tape_machines(const u8* __restrict__ rules, int* __restrict__ out, int n, int limit) {
  const int k = own_index();
  if (k >= n) return;
  u8 tape[64], own[10];
  for (int j = 0; j < 64; j++) tape[j] = 0;
  for (int j = 0; j < 10; j++) own[j] = rules[j * n + k];
  int at = 32, state = 0, steps = 0, ones = 0;
  while (state < 5 && steps < limit) {
    const u8 rule = own[2 * state + tape[at]];
    ones += (rule & 1) - tape[at];
    tape[at] = rule & 1;
    at = at + (rule & 2 ? 1 : 63) & 63;
    state = rule >> 2;
    steps++;
  }
  out[k] = steps * 100 + ones;
}

// Events in a heap in local memory: the first one is handled, and comes again after a time drawn at random.
__global__ void event_heaps(u32* __restrict__ out, int n, int waiting, int events, u32 seed) {
  const int k = own_index();
  if (k >= n) return;
  Random random(k, seed);
  u32 heap[32], mixed = 0;
  for (int j = 0; j < waiting; j++) heap[j] = 1000 * j;
  for (int t = 0; t < events; t++) {
    const u32 first = heap[0], again = first + random.below(50000);
    mixed = mixed * 31 + first;
    int at = 0;
    for (int child = 1; child < waiting; child = 2 * at + 1) {
      if (child + 1 < waiting && heap[child + 1] < heap[child]) child++;
      if (heap[child] >= again) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = again;
  }
  out[k] = mixed;
}

// ------------------------------------------------------------------------------------------------------ first programs

// Distances between all pairs of points in the plane, a thread per pair.
__global__ void distance_table(const float2* __restrict__ points, float* __restrict__ out, int n) {
  const int x = own_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    const float dx = points[x].x - points[y].x, dy = points[x].y - points[y].y;
    out[y * n + x] = sqrtf(dx * dx + dy * dy);
  }
}

// Vowels of a text are counted, one atomic each.
__global__ void count_vowels(const char* __restrict__ text, int* __restrict__ out, int n) {
  for (int k = own_index(); k < n; k += gridDim.x * blockDim.x) {
    const char c = text[k] | 32;
    if (c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u') atomicAdd(out, 1);
  }
}

// Sums of the true divisors of numbers, by trying all up to the root.
__global__ void divisor_sums(int* __restrict__ out, int n, int first) {
  const int k = own_index();
  if (k >= n) return;
  const int number = first + k;
  int sum = 1;
  for (int d = 2; d * d <= number; d++) {
    if (number % d) continue;
    sum += d;
    if (d != number / d) sum += number / d;
  }
  out[k] = sum;
}

// The nearest of many segments for each point, as the squared distance; blocks read the segments together.
__global__ void segment_distances(const float2* __restrict__ points, const float4* __restrict__ segments,
                                  float* __restrict__ out, int n, int count) {
  extern __shared__ float4 some_segments[];
  const int k = own_index();
  const float2 p = k < n ? points[k] : make_float2(0.0f, 0.0f);
  float least = INFINITY;
  for (int start = 0; start < count; start += blockDim.x) {
    if (start + threadIdx.x < count) some_segments[threadIdx.x] = segments[start + threadIdx.x];
    __syncthreads();
    const int here = min((int)blockDim.x, count - start);
    for (int j = 0; j < here; j++) {
      const float4 s = some_segments[j];
      const float ux = s.z - s.x, uy = s.w - s.y, vx = p.x - s.x, vy = p.y - s.y;
      const float along = __saturatef(__fdividef(ux * vx + uy * vy, ux * ux + uy * uy + 1e-6f));
      const float dx = vx - along * ux, dy = vy - along * uy;
      least = fminf(least, dx * dx + dy * dy);
    }
    __syncthreads();
  }
  if (k < n) out[k] = least;
}
