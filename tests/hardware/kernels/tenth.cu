// Kernels for tests/hardware/tenth_cases.py: other ones than those of the nine sets before, as programs have them.
#include <cuda_fp16.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define FULL 0xffffffffu

__device__ __forceinline__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <typename T>
__device__ __forceinline__ T over_warp(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL, value, step);
  return value;
}

// The sum over a block of up to 1024 threads, in every thread. The barrier in front lets `slots` be used again.
template <typename T>
__device__ T over_block(T value, T* slots) {
  value = over_warp(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  T total = 0;
  for (int w = 0; w < (int)blockDim.x / 32; w++) total += slots[w];
  return total;
}

// ----------------------------------------------------------------------------------------------------------- numerics

// Van der Pol's oscillator by the method of Bogacki and Shampine, with a step of its own for each thread.
__device__ __forceinline__ float2 van_der_pol(float2 s, float mu) {
  return make_float2(s.y, mu * (1.0f - s.x * s.x) * s.y - s.x);
}
__global__ void adaptive_steps(const float* __restrict__ stiffness, float2* __restrict__ state, int* __restrict__ used,
                               int n, float span, float tolerance) {
  int k = global_id();
  if (k >= n) return;
  const float mu = stiffness[k];
  float2 s = make_float2(2.0f, 0.0f), k1 = van_der_pol(s, mu);
  float t = 0.0f, h = 0.01f;
  int tries = 0;
  while (t < span && tries < 5000) {
    tries++;
    h = fminf(h, span - t);
    float2 k2 = van_der_pol(make_float2(s.x + 0.5f * h * k1.x, s.y + 0.5f * h * k1.y), mu);
    float2 k3 = van_der_pol(make_float2(s.x + 0.75f * h * k2.x, s.y + 0.75f * h * k2.y), mu);
    float2 next = make_float2(s.x + h * (2.0f * k1.x + 3.0f * k2.x + 4.0f * k3.x) / 9.0f,
                              s.y + h * (2.0f * k1.y + 3.0f * k2.y + 4.0f * k3.y) / 9.0f);
    float2 k4 = van_der_pol(next, mu);
    float ex = h * (-5.0f * k1.x / 72.0f + k2.x / 12.0f + k3.x / 9.0f - k4.x / 8.0f);
    float ey = h * (-5.0f * k1.y / 72.0f + k2.y / 12.0f + k3.y / 9.0f - k4.y / 8.0f);
    float error = fmaxf(fabsf(ex), fabsf(ey)) / tolerance;
    if (error <= 1.0f) {
      t = h >= span - t ? span : t + h;
      s = next;
      k1 = k4;
    }
    h *= fminf(3.0f, fmaxf(0.3f, 0.9f * __powf(error + 1e-6f, -0.3333333f)));
  }
  state[k] = s;
  used[k] = tries;
}

// Logarithms of the gamma function by Lanczos' series.
__constant__ double lanczos[8] = {676.5203681218851,      -1259.1392167224028,  771.32342877765313,
                                  -176.61502916214059,    12.507343278686905,   -0.13857109526572012,
                                  9.9843695780195716e-6,  1.5056327351493116e-7};
__global__ void log_gammas(const double* __restrict__ x, double* __restrict__ y, int n) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const double z = x[i] - 0.5;
    double series = 0.99999999999980993;
#pragma unroll
    for (int k = 0; k < 8; k++) series += lanczos[k] / (z + 0.5 + k);
    const double t = z + 7.0;
    y[i] = 0.91893853320467274178 + z * log(t) - t + log(series);
  }
}

// Eigenvalues of symmetric 3 x 3 matrices by Jacobi's rotations. The six entries lie apart: xx, yy, zz, xy, xz, yz.
__device__ __forceinline__ void rotate(float& p, float& q, float& pq, float& rp, float& rq) {
  if (fabsf(pq) < 1e-20f) return;
  const float theta = (q - p) / (2.0f * pq);
  const float t = copysignf(1.0f, theta) / (fabsf(theta) + sqrtf(theta * theta + 1.0f));
  const float c = rsqrtf(t * t + 1.0f), s = t * c;
  p -= t * pq;
  q += t * pq;
  pq = 0.0f;
  const float old = rp;
  rp = c * old - s * rq;
  rq = s * old + c * rq;
}
__global__ void eigen_3x3(const float* __restrict__ m, float* __restrict__ out, int n, int sweeps) {
  const int i = global_id();
  if (i >= n) return;
  float xx = m[i], yy = m[i + n], zz = m[i + 2 * n], xy = m[i + 3 * n], xz = m[i + 4 * n], yz = m[i + 5 * n];
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    rotate(xx, yy, xy, xz, yz);
    rotate(xx, zz, xz, xy, yz);
    rotate(yy, zz, yz, xy, xz);
  }
  const float low = fminf(xx, fminf(yy, zz)), high = fmaxf(xx, fmaxf(yy, zz));
  out[i] = low;
  out[i + n] = fmaxf(fminf(xx, yy), fminf(fmaxf(xx, yy), zz));
  out[i + 2 * n] = high;
}

// Modified Gram and Schmidt: a block per matrix, a thread per row, COLS columns in registers.
template <int COLS>
__global__ void gram_schmidt(const float* __restrict__ a, float* __restrict__ q) {
  __shared__ float slots[32];
  const size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * COLS;
  float row[COLS];
#pragma unroll
  for (int c = 0; c < COLS; c++) row[c] = a[first + c];
#pragma unroll
  for (int c = 0; c < COLS; c++) {
    row[c] *= rsqrtf(over_block(row[c] * row[c], slots));
#pragma unroll
    for (int j = c + 1; j < COLS; j++) row[j] -= row[c] * over_block(row[c] * row[j], slots);
  }
#pragma unroll
  for (int c = 0; c < COLS; c++) q[first + c] = row[c];
}

// The residual of a fine grid on the next coarser one, with full weights; the edge repeats.
__global__ void restrict_grid(const float* __restrict__ fine, float* __restrict__ coarse, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width / 2 || y >= height / 2) return;
  float sum = 0.0f;
#pragma unroll
  for (int dy = -1; dy <= 1; dy++) {
    const float* line = fine + (size_t)min(max(2 * y + dy, 0), height - 1) * width;
    const float here = 0.25f * line[max(2 * x - 1, 0)] + 0.5f * line[2 * x] + 0.25f * line[min(2 * x + 1, width - 1)];
    sum += (dy ? 0.25f : 0.5f) * here;
  }
  coarse[(size_t)y * (width / 2) + x] = sum;
}

// Successive over-relaxation of Poisson's equation: one colour of a checkerboard, in place.
__global__ void red_black_sor(double* u, const double* __restrict__ rhs, int width, int height, int colour,
                              double omega) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((y + colour) & 1);
  if (x >= width - 1 || y >= height - 1) return;
  const size_t at = (size_t)y * width + x;
  const double around = u[at - 1] + u[at + 1] + u[at - width] + u[at + width];
  u[at] += omega * (0.25 * (around + rhs[at]) - u[at]);
}

// Complete elliptic integrals of the first kind: the mean of arithmetic and geometric means.
__global__ void elliptic_agm(const double* __restrict__ m, double* __restrict__ k, int n) {
  const int i = global_id();
  if (i >= n) return;
  double a = 1.0, b = sqrt(1.0 - m[i]);
  while (a - b > 1e-14 * a) {
    const double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  k[i] = 1.57079632679489662 / a;
}

// ------------------------------------------------------------------------------------------------------------- images

// Labels of connected pixels in tiles of 32 x 32: each pixel takes the smallest label around it until none changes.
__global__ void flood_tiles(const u8* __restrict__ ink, int* __restrict__ labels) {
  __shared__ int now[34][34];
  const int x = threadIdx.x, y0 = threadIdx.y;
  for (int k = y0 * 32 + x; k < 34 * 34; k += 32 * blockDim.y) now[k / 34][k % 34] = 1 << 20;
  __syncthreads();
  const size_t tile = (size_t)blockIdx.x * 1024;
  for (int y = y0; y < 32; y += blockDim.y)
    if (ink[tile + y * 32 + x]) now[y + 1][x + 1] = y * 32 + x;
  __syncthreads();
  int changed = 1;
  while (changed) {
    int least[8], found = 0;
#pragma unroll
    for (int r = 0; r < 8; r++) {
      const int y = y0 + r * blockDim.y;
      if (y < 32) {
        const int here = now[y + 1][x + 1];
        const int side = min(now[y + 1][x], now[y + 1][x + 2]), over = min(now[y][x + 1], now[y + 2][x + 1]);
        least[r] = here < 1 << 20 ? min(here, min(side, over)) : here;
        found |= least[r] != here;
      }
    }
    changed = __syncthreads_or(found);
#pragma unroll
    for (int r = 0; r < 8; r++) {
      const int y = y0 + r * blockDim.y;
      if (y < 32) now[y + 1][x + 1] = least[r];
    }
    __syncthreads();
  }
  for (int y = y0; y < 32; y += blockDim.y) labels[tile + y * 32 + x] = now[y + 1][x + 1];
}

// Edges of one pixel: a gradient stays if no neighbour along its direction has a greater one.
__device__ __forceinline__ int2 gradient_at(const u8* __restrict__ p, int x, int y, int w, int h) {
  x = min(max(x, 1), w - 2);
  y = min(max(y, 1), h - 2);
  return make_int2(p[y * w + x + 1] - p[y * w + x - 1], p[(y + 1) * w + x] - p[(y - 1) * w + x]);
}
__global__ void thin_edges(const u8* __restrict__ grey, int* __restrict__ edges, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const int2 g = gradient_at(grey, x, y, w, h);
  const int power = g.x * g.x + g.y * g.y;
  int keep = 0;
  if (power > 900) {
    int dx = 1, dy = 1;
    if (abs(g.x) > 2 * abs(g.y))
      dy = 0;
    else if (abs(g.y) > 2 * abs(g.x))
      dx = 0;
    else if ((g.x ^ g.y) < 0)
      dy = -1;
    const int2 a = gradient_at(grey, x + dx, y + dy, w, h), b = gradient_at(grey, x - dx, y - dy, w, h);
    if (power >= max(a.x * a.x + a.y * a.y, b.x * b.x + b.y * b.y)) keep = power;
  }
  edges[y * w + x] = keep;
}

// Erosion along rows in a constant number of comparisons: minima from both ends of pieces as long as the window.
template <int RADIUS, int TILE>
__global__ void van_herk(const int* __restrict__ in, int* __restrict__ out, int width) {
  constexpr int WINDOW = 2 * RADIUS + 1, PIECES = (TILE + 2 * RADIUS + WINDOW - 1) / WINDOW, SIZE = PIECES * WINDOW;
  __shared__ int from_left[SIZE], from_right[SIZE];
  const int* row = in + (size_t)blockIdx.y * width;
  const int x0 = blockIdx.x * TILE;
  for (int k = threadIdx.x; k < SIZE; k += blockDim.x)
    from_left[k] = from_right[k] = row[min(max(x0 + k - RADIUS, 0), width - 1)];
  __syncthreads();
  for (int p = threadIdx.x; p < 2 * PIECES; p += blockDim.x) {
    if (p < PIECES) {
      int least = from_left[p * WINDOW];
      for (int k = 1; k < WINDOW; k++) from_left[p * WINDOW + k] = least = min(least, from_left[p * WINDOW + k]);
    } else {
      const int last = (p - PIECES) * WINDOW + WINDOW - 1;
      int least = from_right[last];
      for (int k = 1; k < WINDOW; k++) from_right[last - k] = least = min(least, from_right[last - k]);
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < TILE && x0 + k < width; k += blockDim.x)
    out[(size_t)blockIdx.y * width + x0 + k] = min(from_right[k], from_left[k + 2 * RADIUS]);
}

// Equal brightness in tiles of 4096 pixels: a histogram in shared memory, its running sums, and the pixels again.
__global__ void equalise_tiles(const uchar4* __restrict__ in, uchar4* __restrict__ out) {
  __shared__ int bins[256];
  const int t = threadIdx.x;
  const size_t tile = (size_t)blockIdx.x * 1024;
  for (int b = t; b < 256; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int k = t; k < 1024; k += blockDim.x) {
    const uchar4 p = in[tile + k];
    atomicAdd(&bins[p.x], 1);
    atomicAdd(&bins[p.y], 1);
    atomicAdd(&bins[p.z], 1);
    atomicAdd(&bins[p.w], 1);
  }
  __syncthreads();
  if (t < 32) {  // one warp: eight bins per lane
    int sums[8], total = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) sums[k] = total += bins[8 * t + k];
    int before = total;
    for (int d = 1; d < 32; d *= 2) {
      const int left = __shfl_up_sync(FULL, before, d);
      if (t >= d) before += left;
    }
#pragma unroll
    for (int k = 0; k < 8; k++) bins[8 * t + k] = (before - total + sums[k]) * 255 / 4096;
  }
  __syncthreads();
  for (int k = t; k < 1024; k += blockDim.x) {
    const uchar4 p = in[tile + k];
    out[tile + k] = make_uchar4(bins[p.x], bins[p.y], bins[p.z], bins[p.w]);
  }
}

// The second pass of a distance transform: along a column until no pixel can be nearer.
__global__ void distance_columns(const int* __restrict__ in_row, int* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  int best = in_row[y * width + x];
  best *= best;
  for (int d = 1; d * d < best; ++d) {
    if (y >= d) {
      const int g = in_row[(y - d) * width + x];
      best = min(best, g * g + d * d);
    }
    if (y + d < height) {
      const int g = in_row[(y + d) * width + x];
      best = min(best, g * g + d * d);
    }
  }
  out[y * width + x] = best;
}

// Means of similar patches: 25 patches of 3 x 3 around each pixel; blocks of 16 x 16.
__global__ void nlm_denoise(const float* __restrict__ in, float* __restrict__ out, int width, int height, float k) {
  __shared__ float tile[22][23];
  const int x0 = blockIdx.x * 16 - 3, y0 = blockIdx.y * 16 - 3;
  for (int t = threadIdx.y * 16 + threadIdx.x; t < 22 * 22; t += 256) {
    const int x = min(max(x0 + t % 22, 0), width - 1), y = min(max(y0 + t / 22, 0), height - 1);
    tile[t / 22][t % 22] = in[y * width + x];
  }
  __syncthreads();
  const int cx = threadIdx.x + 3, cy = threadIdx.y + 3;
  float total = 0, weights = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      float apart = 0;
#pragma unroll
      for (int py = -1; py <= 1; ++py)
#pragma unroll
        for (int px = -1; px <= 1; ++px) {
          const float d = tile[cy + py][cx + px] - tile[cy + dy + py][cx + dx + px];
          apart += d * d;
        }
      const float w = __expf(-k * apart);
      weights += w;
      total += w * tile[cy + dy][cx + dx];
    }
  const int x = x0 + cx, y = y0 + cy;
  if (x < width && y < height) out[y * width + x] = total / weights;
}

// Hough's transform: a thread per angle, a block for some points, one vote per point and angle.
__global__ void hough_votes(const float2* __restrict__ points, const float2* __restrict__ directions, u32* votes,
                            int n, int each, int rhos) {
  const float2 d = directions[threadIdx.x];
  u32* mine = votes + threadIdx.x * rhos;
  const int first = blockIdx.x * each, last = min(first + each, n);
  for (int p = first; p < last; p++) {
    const float2 q = __ldg(points + p);
    const float rho = __fadd_rn(__fmul_rn(q.x, d.x), __fmul_rn(q.y, d.y));
    atomicAdd(mine + min(max((int)rho + rhos / 2, 0), rhos - 1), 1u);
  }
}

// Costs of seams from the top to the bottom: a block per picture, a thread per column.
__global__ void seam_costs(const int* __restrict__ energy, int* __restrict__ out, int rows) {
  extern __shared__ int lines[];
  const int w = blockDim.x, x = threadIdx.x;
  const int* mine = energy + (size_t)blockIdx.x * rows * w;
  int* line = lines;
  int* other = lines + w;
  int cost = mine[x];
  for (int y = 1; y < rows; y++) {
    line[x] = cost;
    const int next = mine[y * w + x];
    __syncthreads();
    if (x > 0) cost = min(cost, line[x - 1]);
    if (x + 1 < w) cost = min(cost, line[x + 1]);
    cost += next;
    int* swap = line;
    line = other;
    other = swap;
  }
  out[blockIdx.x * w + x] = cost;
}

// ---------------------------------------------------------------------------------------------------------- rendering

// A block per tile of 16 x 16 pixels goes through all triangles, 64 at a time, and keeps the nearest one's depth.
struct Triangle {
  int ax, ay, bx, by, cx, cy, depth, colour;
};
__global__ void raster_tiles(const Triangle* __restrict__ triangles, int* __restrict__ picture, int n, int width) {
  __shared__ Triangle some[64];
  const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16, x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  const int t = threadIdx.y * 16 + threadIdx.x;
  int nearest = 1 << 30, colour = -1;
  for (int first = 0; first < n; first += 64) {
    const int count = min(64, n - first);
    if (t < count) some[t] = triangles[first + t];
    __syncthreads();
    for (int k = 0; k < count; k++) {
      const Triangle& a = some[k];
      if (max(a.ax, max(a.bx, a.cx)) < x0 || min(a.ax, min(a.bx, a.cx)) > x0 + 15) continue;
      if (max(a.ay, max(a.by, a.cy)) < y0 || min(a.ay, min(a.by, a.cy)) > y0 + 15) continue;
      const int e0 = (a.bx - a.ax) * (y - a.ay) - (a.by - a.ay) * (x - a.ax);
      const int e1 = (a.cx - a.bx) * (y - a.by) - (a.cy - a.by) * (x - a.bx);
      const int e2 = (a.ax - a.cx) * (y - a.cy) - (a.ay - a.cy) * (x - a.cx);
      const bool in = (e0 >= 0 && e1 >= 0 && e2 >= 0) || (e0 <= 0 && e1 <= 0 && e2 <= 0);
      if (in && a.depth < nearest) {
        nearest = a.depth;
        colour = a.colour;
      }
    }
    __syncthreads();
  }
  picture[y * width + x] = colour;
}

// Rays through a volume, front to back, until almost nothing shines through. Places are fixed-point numbers.
__global__ void integrate_rays(const u8* __restrict__ volume, const float* __restrict__ opacity,
                               float* __restrict__ picture, int side, int width, int slope) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width) return;
  int px = (x * side << 8) / width << 8, py = (y * side << 8) / (int)(gridDim.y * blockDim.y) << 8;
  float through = 1.0f, light = 0.0f;
  for (int z = 0; z < side && through > 0.05f; ++z) {
    const int vx = (px >> 16) % side, vy = (py >> 16) % side;
    const int density = volume[(z * side + vy) * side + vx];
    const float a = opacity[density];
    light += through * a * density;
    through *= 1.0f - a;
    px += slope;
    py += slope / 2;
  }
  picture[y * width + x] = light;
}

// Gradient noise in octaves, with a permutation in shared memory.
__device__ __forceinline__ float corner(int h, float x, float y) {
  const float u = h & 4 ? y : x, v = h & 4 ? x : y;
  return (h & 1 ? -u : u) + (h & 2 ? -2.0f * v : 2.0f * v);
}
template <int OCTAVES>
__global__ void perlin_fbm(const int* __restrict__ permutation, float* __restrict__ out, int width, float scale) {
  __shared__ int p[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) p[k] = permutation[k];
  __syncthreads();
  const int x = global_id(), row = blockIdx.y;
  if (x >= width) return;
  float fx = x * scale, fy = row * scale, sum = 0.0f, size = 1.0f;
#pragma unroll 1
  for (int o = 0; o < OCTAVES; o++) {
    const float bx = floorf(fx), by = floorf(fy);
    const int ix = (int)bx & 255, iy = (int)by & 255;
    const float dx = fx - bx, dy = fy - by;
    const float sx = dx * dx * dx * (dx * (dx * 6 - 15) + 10), sy = dy * dy * dy * (dy * (dy * 6 - 15) + 10);
    const int left = p[ix], right = p[(ix + 1) & 255];
    const float a = corner(p[(left + iy) & 255], dx, dy), b = corner(p[(right + iy) & 255], dx - 1, dy);
    const float c = corner(p[(left + iy + 1) & 255], dx, dy - 1), d = corner(p[(right + iy + 1) & 255], dx - 1, dy - 1);
    const float top = a + sx * (b - a), bottom = c + sx * (d - c);
    sum += size * (top + sy * (bottom - top));
    size *= 0.5f;
    fx *= 2;
    fy *= 2;
  }
  out[row * width + x] = sum;
}

// ------------------------------------------------------------------------------------------------------------- graphs

// The lightest edge out of each component. The greatest key wins, so the keys are turned around.
__global__ void boruvka_lightest(const int* __restrict__ from, const int* __restrict__ to,
                                 const u32* __restrict__ weight,
                                 const int* __restrict__ component, u64* best, int edges) {
  const int e = global_id();
  if (e >= edges) return;
  const int a = component[from[e]], b = component[to[e]];
  if (a == b) return;
  const u64 key = ~((u64)weight[e] << 32 | e);
  atomicMax(best + a, key);
  atomicMax(best + b, key);
}

// The root of each node's tree, and how far it is.
__global__ void find_roots(const int* __restrict__ parent, int2* __restrict__ out, int n) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    int node = i, up = parent[i], depth = 0;
    while (up != node) {
      node = up;
      up = parent[node];
      ++depth;
    }
    out[i] = make_int2(node, depth);
  }
}

// The label that most of a node's first 16 neighbours have; the smallest one if several lead.
__global__ void modes_of_neighbours(const int* __restrict__ starts, const int* __restrict__ members,
                                    const int* __restrict__ labels, int* __restrict__ out, int nodes) {
  const int v = global_id();
  if (v >= nodes) return;
  int seen[16], counts[16], different = 0;
  const int begin = starts[v], end = min(starts[v + 1], begin + 16);
  for (int e = begin; e < end; ++e) {
    const int label = labels[members[e]];
    int k = 0;
    while (k < different && seen[k] != label) ++k;
    if (k == different) {
      seen[k] = label;
      counts[k] = 0;
      ++different;
    }
    ++counts[k];
  }
  int mode = labels[v], most = 0;
  for (int k = 0; k < different; ++k)
    if (counts[k] > most || (counts[k] == most && seen[k] < mode)) {
      most = counts[k];
      mode = seen[k];
    }
  out[v] = mode;
}

// ------------------------------------------------------------------------------------------------------------ physics

// Maxwell's equations on Yee's grid: the magnetic field in a plane follows from the electric one.
__global__ void yee_magnetic(const float* __restrict__ ez, float* __restrict__ hx, float* __restrict__ hy, int width,
                             int height, float courant) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width - 1 || y >= height - 1) return;
  const int at = y * width + x;
  const float e = ez[at];
  hx[at] -= courant * (ez[at + width] - e);
  hy[at] += courant * (ez[at + 1] - e);
}

// Finite elements: a small matrix, the same for all, times what each element gathers from its nodes.
template <int N>
__global__ void element_products(const int* __restrict__ nodes, const float* __restrict__ u,
                                 const float* __restrict__ matrix, float* __restrict__ out, int elements) {
  __shared__ float m[N * N];
  for (int k = threadIdx.x; k < N * N; k += blockDim.x) m[k] = matrix[k];
  __syncthreads();
  const int e = global_id();
  if (e >= elements) return;
  float local[N];
#pragma unroll
  for (int k = 0; k < N; k++) local[k] = u[nodes[k * elements + e]];
  for (int r = 0; r < N; r++) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < N; k++) sum += m[r * N + k] * local[k];
    out[r * elements + e] = sum;
  }
}

// Fluxes of the Euler equations between neighbour cells by Harten, Lax and van Leer.
struct Gas {
  float rho, u, p, e, c;
};
__device__ __forceinline__ Gas gas(const float* __restrict__ q, int i, int n) {
  Gas g;
  g.rho = q[i];
  g.u = q[n + i] / g.rho;
  g.e = q[2 * n + i];
  g.p = 0.4f * (g.e - 0.5f * g.rho * g.u * g.u);
  g.c = sqrtf(1.4f * g.p / g.rho);
  return g;
}
__global__ void hll_fluxes(const float* __restrict__ q, float* __restrict__ flux, int n) {
  for (int i = global_id(); i < n - 1; i += gridDim.x * blockDim.x) {
    const Gas l = gas(q, i, n), r = gas(q, i + 1, n);
    const float sl = fminf(fminf(l.u - l.c, r.u - r.c), 0.0f), sr = fmaxf(fmaxf(l.u + l.c, r.u + r.c), 0.0f);
    const float inv = 1.0f / (sr - sl), both = sl * sr;
    const float ml = l.rho * l.u, mr = r.rho * r.u;
    flux[i] = (sr * ml - sl * mr + both * (r.rho - l.rho)) * inv;
    flux[n + i] = (sr * (ml * l.u + l.p) - sl * (mr * r.u + r.p) + both * (mr - ml)) * inv;
    flux[2 * n + i] = (sr * l.u * (l.e + l.p) - sl * r.u * (r.e + r.p) + both * (r.e - l.e)) * inv;
  }
}

// Energies of bent bonds: a third of each goes to each of its three atoms.
__global__ void bond_angles(const float4* __restrict__ atoms, const int* __restrict__ triples, float* energy, int n,
                            float rest) {
  const int t = global_id();
  if (t >= n) return;
  const int i = triples[3 * t], j = triples[3 * t + 1], k = triples[3 * t + 2];
  const float4 a = atoms[i], b = atoms[j], c = atoms[k];
  const float3 p = make_float3(a.x - b.x, a.y - b.y, a.z - b.z), q = make_float3(c.x - b.x, c.y - b.y, c.z - b.z);
  const float dot = p.x * q.x + p.y * q.y + p.z * q.z;
  const float norms = (p.x * p.x + p.y * p.y + p.z * p.z) * (q.x * q.x + q.y * q.y + q.z * q.z);
  const float bent = acosf(fminf(fmaxf(dot * rsqrtf(norms + 1e-12f), -0.999f), 0.999f)) - rest;
  const float share = b.w * bent * bent / 3.0f;
  atomicAdd(energy + i, share);
  atomicAdd(energy + j, share);
  atomicAdd(energy + k, share);
}

// Neutrons in a slab of a thickness in mean free paths: how often each collides until it leaves or is absorbed.
__device__ __forceinline__ float luck(u32& state) {
  state = state * 747796405u + 2891336453u;
  return ((state >> 9) + 0.5f) * 1.1920929e-7f;
}
__global__ void neutron_walks(int* __restrict__ collisions, int n, float thickness, float absorbed, u32 seed) {
  const int i = global_id();
  if (i >= n) return;
  u32 state = (i * 2654435761u) ^ seed;
  luck(state);
  float depth = 0, way = 1;
  int count = 0;
  for (;;) {
    depth -= way * __logf(luck(state));
    if (depth < 0 || depth > thickness) break;
    ++count;
    if (luck(state) < absorbed) break;
    way = 2 * luck(state) - 1;
  }
  collisions[i] = count;
}

// --------------------------------------------------------------------------------------------------- machine learning

// Routes tokens to two of 64 experts; a warp per token.
__global__ void route_tokens(const float2* __restrict__ logits, int2* __restrict__ experts, float2* __restrict__ shares,
                             int* counts, int tokens) {
  const int token = global_id() / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  const float2 v = logits[token * 32 + lane];
  float one = fmaxf(v.x, v.y), two = fminf(v.x, v.y);
  int best = v.x >= v.y ? 2 * lane : 2 * lane + 1, second = best ^ 1;
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) {
    const float o1 = __shfl_xor_sync(FULL, one, step), o2 = __shfl_xor_sync(FULL, two, step);
    const int b1 = __shfl_xor_sync(FULL, best, step), b2 = __shfl_xor_sync(FULL, second, step);
    const bool theirs = o1 > one || (o1 == one && b1 < best);
    const float loser = theirs ? one : o1, rest = theirs ? o2 : two;
    const int loser_at = theirs ? best : b1, rest_at = theirs ? b2 : second;
    one = theirs ? o1 : one;
    best = theirs ? b1 : best;
    two = fmaxf(loser, rest);
    second = loser >= rest ? loser_at : rest_at;
  }
  if (lane == 0) {
    const float w = 1.0f / (1.0f + __expf(two - one));
    experts[token] = make_int2(best, second);
    shares[token] = make_float2(w, 1.0f - w);
    atomicAdd(counts + best, 1);
    atomicAdd(counts + second, 1);
  }
}

// A step of the optimizer Lion.
__global__ void lion_step(float4* __restrict__ weights, float4* __restrict__ momentum,
                          const float4* __restrict__ gradient,
                          int n, float rate) {
  const int i = global_id();
  if (i >= n) return;
  float4 w = weights[i], m = momentum[i];
  const float4 g = gradient[i];
  auto step = [rate](float& wk, float& mk, float gk) {
    const float c = 0.9f * mk + 0.1f * gk;
    wk -= rate * ((c > 0) - (c < 0) + 0.01f * wk);
    mk = 0.99f * mk + 0.01f * gk;
  };
  step(w.x, m.x, g.x);
  step(w.y, m.y, g.y);
  step(w.z, m.z, g.z);
  step(w.w, m.w, g.w);
  weights[i] = w;
  momentum[i] = m;
}

// Mean and variance of each channel of a batch of pictures, for batch normalization.
__global__ void channel_stats(const float* __restrict__ x, float2* __restrict__ stats, int batch, int channels,
                              int pixels) {
  __shared__ float slots[32];
  float sum = 0, squares = 0;
  for (int b = 0; b < batch; b++) {
    const float* plane = x + ((size_t)b * channels + blockIdx.x) * pixels;
    for (int k = threadIdx.x; k < pixels; k += blockDim.x) {
      const float v = plane[k];
      sum += v;
      squares += v * v;
    }
  }
  sum = over_block(sum, slots);
  squares = over_block(squares, slots);
  if (threadIdx.x == 0) {
    const float mean = sum / ((float)batch * pixels);
    stats[blockIdx.x] = make_float2(mean, squares / ((float)batch * pixels) - mean * mean);
  }
}

// The pointwise part of an LSTM cell; the gates of a row stand one after the other: in, forget, new, out.
__device__ __forceinline__ float logistic_of(float x) { return __fdividef(1.0f, 1.0f + __expf(-x)); }
__global__ void lstm_cell(const float* __restrict__ gates, float* __restrict__ cell, float* __restrict__ hidden,
                          int rows, int size) {
  const int k = global_id(), row = k / size, col = k % size;
  if (row >= rows) return;
  const float* g = gates + (size_t)row * 4 * size + col;
  const float c = logistic_of(g[size]) * cell[k] + logistic_of(g[0]) * tanhf(g[2 * size]);
  cell[k] = c;
  hidden[k] = logistic_of(g[3 * size]) * tanhf(c);
}

// Unrolls windows of 3 x 3 for a convolution by a matrix product.
__global__ void im2col_3x3(const float* __restrict__ x, float* __restrict__ cols, int channels, int width, int height) {
  const int total = channels * 9 * width * height;
  for (int k = global_id(); k < total; k += gridDim.x * blockDim.x) {
    const int px = k % width, py = k / width % height, row = k / (width * height);
    const int dx = row % 3 - 1, dy = row / 3 % 3 - 1, c = row / 9;
    const int sx = px + dx, sy = py + dy;
    const bool in = sx >= 0 && sx < width && sy >= 0 && sy < height;
    cols[k] = in ? x[(c * height + sy) * width + sx] : 0.0f;
  }
}

// Winograd's transform F(2 x 2, 3 x 3) of the input: 16 planes of tiles.
__global__ void winograd_input(const float* __restrict__ x, float* __restrict__ out, int channels, int width,
                               int height) {
  const int across = width / 2 - 1, down = height / 2 - 1, tiles = across * down * channels;
  const int t = global_id();
  if (t >= tiles) return;
  const int tx = t % across, ty = t / across % down, c = t / (across * down);
  const float* p = x + ((size_t)c * height + 2 * ty) * width + 2 * tx;
  float d[4][4], m[4][4];
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int k = 0; k < 4; k++) d[r][k] = p[r * width + k];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    m[0][k] = d[0][k] - d[2][k];
    m[1][k] = d[1][k] + d[2][k];
    m[2][k] = d[2][k] - d[1][k];
    m[3][k] = d[1][k] - d[3][k];
  }
#pragma unroll
  for (int r = 0; r < 4; r++) {
    out[(size_t)(4 * r) * tiles + t] = m[r][0] - m[r][2];
    out[(size_t)(4 * r + 1) * tiles + t] = m[r][1] + m[r][2];
    out[(size_t)(4 * r + 2) * tiles + t] = m[r][2] - m[r][1];
    out[(size_t)(4 * r + 3) * tiles + t] = m[r][1] - m[r][3];
  }
}

// Which later boxes overlap a box by more than half: 64 bits per pair of 64 boxes.
__global__ void nms_masks(const float4* __restrict__ boxes, u64* __restrict__ masks, int n) {
  __shared__ float4 columns[64];
  if (blockIdx.x < blockIdx.y) return;
  const int row = blockIdx.y * 64 + threadIdx.x, first = blockIdx.x * 64, count = min(n - first, 64);
  if ((int)threadIdx.x < count) columns[threadIdx.x] = boxes[first + threadIdx.x];
  __syncthreads();
  if (row >= n) return;
  const float4 a = boxes[row];
  const float size = a.z * a.w;
  u64 mask = 0;
  for (int k = blockIdx.x == blockIdx.y ? threadIdx.x + 1 : 0; k < count; ++k) {
    const float4 b = columns[k];
    const float w = fminf(a.x + a.z, b.x + b.z) - fmaxf(a.x, b.x), h = fminf(a.y + a.w, b.y + b.w) - fmaxf(a.y, b.y);
    const float common = fmaxf(w, 0.0f) * fmaxf(h, 0.0f);
    if (3.0f * common > size + b.z * b.w) mask |= 1ull << k;
  }
  masks[row * gridDim.x + blockIdx.x] = mask;
}

// Pools regions of feature maps into 7 x 7 bins; four samples per bin.
__device__ __forceinline__ float sample_at(const float* __restrict__ p, float x, float y, int w, int h) {
  x = fminf(fmaxf(x, 0.0f), w - 1.001f);
  y = fminf(fmaxf(y, 0.0f), h - 1.001f);
  const int ix = (int)x, iy = (int)y;
  const float fx = x - ix, fy = y - iy;
  const float* q = p + iy * w + ix;
  return (1 - fy) * ((1 - fx) * q[0] + fx * q[1]) + fy * ((1 - fx) * q[w] + fx * q[w + 1]);
}
__global__ void roi_align(const float* __restrict__ maps, const float4* __restrict__ regions, float* __restrict__ out,
                          int channels, int width, int height, int n) {
  const int k = global_id();
  if (k >= n * channels * 49) return;
  const int bx = k % 7, by = k / 7 % 7, c = k / 49 % channels, region = k / (49 * channels);
  const float4 r = regions[region];
  const float bw = r.z / 7, bh = r.w / 7;
  float sum = 0;
  for (int s = 0; s < 4; ++s)
    sum += sample_at(maps + (size_t)c * width * height, r.x + bw * (bx + 0.25f + 0.5f * (s & 1)),
                     r.y + bh * (by + 0.25f + 0.5f * (s >> 1)), width, height);
  out[k] = 0.25f * sum;
}

// The forward pass of connectionist temporal classification: a block per sequence, a thread per state.
__device__ __forceinline__ float log_add(float a, float b) {
  const float high = fmaxf(a, b);
  return high < -1e29f ? high : high + __logf(1.0f + __expf(fminf(a, b) - high));
}
__global__ void ctc_alpha(const float* __restrict__ scores, const int* __restrict__ labels, float* __restrict__ out,
                          int steps, int letters) {
  extern __shared__ float alphas[];
  const int s = threadIdx.x, states = blockDim.x;
  const int* mine = labels + blockIdx.x * (states / 2);
  const int letter = s % 2 ? mine[s / 2] : 0;
  const bool skip = s % 2 && s > 1 && mine[s / 2] != mine[s / 2 - 1];
  const float* row = scores + (size_t)blockIdx.x * steps * letters;
  float* now = alphas;
  float* next = alphas + states;
  float alpha = s < 2 ? row[letter] : -1e30f;
  now[s] = alpha;
  __syncthreads();
  for (int t = 1; t < steps; t++) {
    row += letters;
    if (s > 0) alpha = log_add(alpha, now[s - 1]);
    if (skip) alpha = log_add(alpha, now[s - 2]);
    alpha += row[letter];
    next[s] = alpha;
    __syncthreads();
    float* swap = now;
    now = next;
    next = swap;
  }
  out[blockIdx.x * states + s] = alpha;
}

// Weights of four bits on the quantiles of a normal distribution, a scale per 64: eight halfs per word.
__constant__ float nf4[16] = {-1.0f,     -0.696193f, -0.525073f, -0.394917f, -0.284441f, -0.184773f, -0.091050f, 0.0f,
                              0.079580f, 0.160930f,  0.246112f,  0.337915f,  0.440710f,  0.562617f,  0.722956f,  1.0f};
__global__ void nf4_unpack(const u32* __restrict__ words, const float* __restrict__ scales, uint4* __restrict__ out,
                           int n) {
  __shared__ float table[16];
  if (threadIdx.x < 16) table[threadIdx.x] = nf4[threadIdx.x];
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const u32 w = words[i];
    const float s = scales[i / 8];
    __half2 pairs[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
      pairs[k] = __floats2half2_rn(s * table[w >> (8 * k) & 15], s * table[w >> (8 * k + 4) & 15]);
    out[i] = *reinterpret_cast<uint4*>(pairs);
  }
}

// ---------------------------------------------------------------------------------------------------------- databases

// Scatters keys into partitions by their low bits. A block reserves room for all its keys of a partition at
// once. The room of a partition is a power of two; behind its end it begins again, so that a launch can be repeated.
template <int PARTS, int ITEMS>
__global__ void radix_partition(const u32* __restrict__ keys, u32* heads, u32* __restrict__ out, int n, int room) {
  __shared__ u32 counts[PARTS], bases[PARTS];
  for (int p = threadIdx.x; p < PARTS; p += blockDim.x) counts[p] = 0;
  __syncthreads();
  const int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
  u32 key[ITEMS], rank[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    const int i = first + k * blockDim.x;
    if (i < n) {
      key[k] = keys[i];
      rank[k] = atomicAdd(&counts[key[k] % PARTS], 1u);
    }
  }
  __syncthreads();
  for (int p = threadIdx.x; p < PARTS; p += blockDim.x)
    if (counts[p]) bases[p] = atomicAdd(heads + p, counts[p]);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; k++)
    if (first + k * (int)blockDim.x < n) {
      const u32 p = key[k] % PARTS, at = bases[p] + rank[k] & room - 1;
      out[(size_t)p * room + at] = key[k];
    }
}

// select sum(price * discount) where day in a range and discount in a range and quantity < most
__global__ void filtered_revenue(const int* __restrict__ day, const u8* __restrict__ discount,
                                 const u8* __restrict__ quantity, const int* __restrict__ price, u64* total, int n,
                                 int from, int to, int most) {
  u64 sum = 0;
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    if (day[i] < from || day[i] >= to) continue;
    const int d = discount[i];
    if (d >= 5 && d <= 7 && quantity[i] < most) sum += (u64)price[i] * d;
  }
  sum = over_warp(sum);
  if (threadIdx.x % 32 == 0 && sum) atomicAdd(total, sum);
}

// Numbers of BITS bits, packed without gaps, plus a base per 128.
template <int BITS>
__global__ void unpack_bits(const u32* __restrict__ words, const int* __restrict__ bases, int* __restrict__ out,
                            int n) {
  const int i = global_id();
  if (i >= n) return;
  const u32 bit = i * (u32)BITS, w = bit >> 5;
  out[i] = bases[i >> 7] + (int)(__funnelshift_r(words[w], words[w + 1], bit & 31) & ((1u << BITS) - 1));
}

// where text like '%abc%de%': rows of fixed width, the letters of a row one after the other.
__global__ void like_rows(const u8* __restrict__ text, u8* __restrict__ matches, int rows, int width, u32 first,
                          u32 second) {
  const int row = global_id();
  if (row >= rows) return;
  const u8* p = text + (size_t)row * width;
  int at = 0;
  bool found = false;
  for (; at + 3 <= width && !found; ++at) found = (p[at] | p[at + 1] << 8 | p[at + 2] << 16) == first;
  if (found) {
    found = false;
    for (at += 2; at + 2 <= width && !found; ++at) found = (p[at] | p[at + 1] << 8) == second;
  }
  matches[row] = found;
}

// Expands runs: each output looks for the run that it lies in.
__global__ void expand_runs(const int* __restrict__ starts, const int* __restrict__ values, int* __restrict__ out,
                            int runs, int n) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    int low = 0, high = runs;
    while (high - low > 1) {
      const int mid = (low + high) / 2;
      if (starts[mid] <= i)
        low = mid;
      else
        high = mid;
    }
    out[i] = values[low];
  }
}

// ------------------------------------------------------------------------------------------------------------ signals

// Filters of second order one after the other; a thread per channel. Coefficients: b0, b1, b2, a1, a2 per stage.
template <int STAGES>
__global__ void biquad_bank(const float* __restrict__ x, const float* __restrict__ c, float* __restrict__ y,
                            int channels, int length) {
  const int ch = global_id();
  if (ch >= channels) return;
  float s1[STAGES] = {}, s2[STAGES] = {};
  for (int t = 0; t < length; t++) {
    float v = x[(size_t)t * channels + ch];
#pragma unroll
    for (int k = 0; k < STAGES; k++) {
      const float out = c[5 * k] * v + s1[k];
      s1[k] = c[5 * k + 1] * v - 0.4f * c[5 * k + 3] * out + s2[k];
      s2[k] = c[5 * k + 2] * v - 0.4f * c[5 * k + 4] * out;
      v = out;
    }
    y[(size_t)t * channels + ch] = v;
  }
}

// Goertzel's recurrence: a block per frame in shared memory, a thread per frequency.
__global__ void goertzel_bins(const float* __restrict__ x, float* __restrict__ power, int length) {
  extern __shared__ float frame[];
  for (int k = threadIdx.x; k < length; k += blockDim.x) frame[k] = x[(size_t)blockIdx.x * length + k];
  __syncthreads();
  const float twice = 2.0f * cospif((threadIdx.x + 0.5f) / blockDim.x);
  float a = 0, b = 0;
  for (int k = 0; k < length; k++) {
    const float next = frame[k] + twice * a - b;
    b = a;
    a = next;
  }
  power[global_id()] = a * a + b * b - twice * a * b;
}

// Another sampling rate: UP new samples for DOWN old ones, by a filter of UP phases with TAPS taps each.
template <int UP, int DOWN, int TAPS>
__global__ void polyphase(const float* __restrict__ x, const float* __restrict__ taps, float* __restrict__ y, int n,
                          int m) {
  for (int k = global_id(); k < m; k += gridDim.x * blockDim.x) {
    const int at = k * DOWN, phase = at % UP, last = at / UP;
    float sum = 0;
#pragma unroll
    for (int t = 0; t < TAPS; t++) {
      const int i = last - t;
      if (i >= 0 && i < n) sum += taps[t * UP + phase] * x[i];
    }
    y[k] = sum;
  }
}

// The checks of a low-density code: each of DEGREE messages becomes the least of the others, with their sign.
template <int DEGREE>
__global__ void ldpc_checks(const float* __restrict__ bits, const int* __restrict__ places, float* __restrict__ out,
                            int checks) {
  const int c = global_id();
  if (c >= checks) return;
  float value[DEGREE], least = 1e30f, second = 1e30f;
  int at = 0;
  bool odd = false;
#pragma unroll
  for (int k = 0; k < DEGREE; k++) {
    value[k] = bits[places[k * checks + c]];
    odd ^= value[k] < 0;
    const float size = fabsf(value[k]);
    if (size < least) {
      second = least;
      least = size;
      at = k;
    } else {
      second = fminf(second, size);
    }
  }
#pragma unroll
  for (int k = 0; k < DEGREE; k++) {
    const float size = 0.75f * (k == at ? second : least);
    out[k * checks + c] = odd != (value[k] < 0) ? -size : size;
  }
}

// An adaptive filter by least mean squares: a warp per channel, one of 32 taps per lane.
__global__ void lms_filter(const float* __restrict__ x, const float* __restrict__ wanted, float* __restrict__ errors,
                           int channels, int length, float rate) {
  const int ch = global_id() / 32, lane = threadIdx.x % 32;
  if (ch >= channels) return;
  float weight = 0, delayed = 0;
  for (int t = 0; t < length; t++) {
    delayed = __shfl_up_sync(FULL, delayed, 1);
    if (lane == 0) delayed = x[ch * length + t];
    const float e = wanted[ch * length + t] - over_warp(weight * delayed);
    weight += rate * e * delayed;
    if (lane == 0) errors[ch * length + t] = e;
  }
}

// ------------------------------------------------------------------------------------------------------------ finance

// An integral over eight dimensions by Sobol's points, in Gray's order; each thread jumps to the first of its points.
__global__ void sobol_integrals(const u32* __restrict__ directions, float* __restrict__ out, int each) {
  __shared__ float slots[32];
  __shared__ u32 table[8 * 32];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) table[k] = directions[k];
  __syncthreads();
  const u32 first = global_id() * each;
  u32 x[8] = {};
  for (u32 gray = first ^ first >> 1; gray; gray &= gray - 1) {
    const int bit = __ffs(gray) - 1;
#pragma unroll
    for (int d = 0; d < 8; d++) x[d] ^= table[32 * d + bit];
  }
  float sum = 0;
  for (int k = 0; k < each; k++) {
    float product = 1;
#pragma unroll
    for (int d = 0; d < 8; d++) product *= (fabsf(4.0f * (x[d] >> 8) * 5.9604645e-8f - 2.0f) + d) / (1.0f + d);
    sum += product;
    const int bit = __ffs(~(first + k)) - 1;
#pragma unroll
    for (int d = 0; d < 8; d++) x[d] ^= table[32 * d + bit];
  }
  sum = over_block(sum, slots);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / ((float)blockDim.x * each);
}

// The present value of bonds with one payment per year; the yield comes from bisection.
__global__ void bond_yields(const float* __restrict__ prices, const float* __restrict__ coupons,
                            const int* __restrict__ years, float* __restrict__ yields, int n) {
  const int i = global_id();
  if (i >= n) return;
  float low = 0.0f, high = 0.5f;
  for (int k = 0; k < 20; k++) {
    const float rate = 0.5f * (low + high), factor = 1.0f / (1.0f + rate);
    const float end = __powf(factor, (float)years[i]);
    const float value = coupons[i] * (1.0f - end) / rate + end;
    if (value > prices[i])
      low = rate;
    else
      high = rate;
  }
  yields[i] = 0.5f * (low + high);
}

// ----------------------------------------------------------------------------------------------------- bioinformatics

// Minimizers: of WINDOW words of K letters in a row the one with the least hash.
template <int K, int WINDOW>
__global__ void minimizers(const u8* __restrict__ letters, u32* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n - K - WINDOW + 2) return;
  u32 word = 0, least = FULL;
  for (int k = 0; k < K - 1; k++) word = word << 2 | letters[i + k];
#pragma unroll
  for (int w = 0; w < WINDOW; w++) {
    word = (word << 2 | letters[i + K - 1 + w]) & ((1u << 2 * K) - 1);
    u32 h = word * 0x9e3779b1u;
    h ^= h >> 15;
    h *= 0x85ebca77u;
    least = min(least, h ^ h >> 13);
  }
  out[i] = least;
}

// The best of some motifs at each place: sums of weights by letter and place.
__global__ void motif_scan(const u8* __restrict__ letters, const float* __restrict__ weights, float* __restrict__ best,
                           int n, int motifs, int length) {
  extern __shared__ float table[];
  for (int k = threadIdx.x; k < motifs * length * 4; k += blockDim.x) table[k] = weights[k];
  __syncthreads();
  const int i = global_id();
  if (i > n - length) return;
  float most = -1e30f;
  for (int m = 0; m < motifs; m++) {
    float score = 0;
    for (int k = 0; k < length; k++) score += table[(m * length + k) * 4 + letters[i + k]];
    most = fmaxf(most, score);
  }
  best[i] = most;
}

// How many people have both of two variants, for all pairs: bits of people, tiles of 16 x 16 variants.
__global__ void linked_variants(const u32* __restrict__ people, int* __restrict__ both, int variants, int words) {
  __shared__ u32 a[16][17], b[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16, col = blockIdx.x * 16;
  int count = 0;
  for (int w = 0; w < words; w += 16) {
    a[ty][tx] = people[(size_t)(row + ty) * words + w + tx];
    b[ty][tx] = people[(size_t)(col + ty) * words + w + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) count += __popc(a[ty][k] & b[tx][k]);
    __syncthreads();
  }
  both[(size_t)(row + ty) * variants + col + tx] = count;
}

// -------------------------------------------------------------------------------------------------- codes, compression

// How long a text is equal to what stood some distance before, up to 32 letters.
__global__ void match_lengths(const u8* __restrict__ text, const int* __restrict__ distances, u8* __restrict__ out,
                              int n) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const int from = i - 1 - distances[i];
    int length = 0;
    if (from >= 0)
      while (length < 32 && i + length < n && text[from + length] == text[i + length]) ++length;
    out[i] = length;
  }
}

// A range decoder with a table of 4096 slots; a thread per stream. A slot holds symbol, frequency and offset.
__global__ void rans_decode(const u16* __restrict__ streams, const u32* __restrict__ table, u8* __restrict__ out, int n,
                            int symbols) {
  const int s = global_id();
  if (s >= n) return;
  u32 state = (u32)streams[s] << 16 | streams[n + s];
  int next = 2;
  for (int k = 0; k < symbols; k++) {
    const u32 slot = state & 4095, entry = __ldg(table + slot);
    out[(size_t)k * n + s] = entry >> 24;
    state = (entry >> 12 & 4095) * (state >> 12) + (entry & 4095);
    if (state < 1u << 16) state = state << 16 | streams[(size_t)next++ * n + s];
  }
}

// Adler's checksums: a block per piece.
__global__ void adler_pieces(const u8* __restrict__ data, u32* __restrict__ sums, int piece) {
  __shared__ u32 slots[32];
  u32 a = 0, b = 0;
  const u8* p = data + (size_t)blockIdx.x * piece;
  for (int k = threadIdx.x; k < piece; k += blockDim.x) {
    a += p[k];
    b = (b + (u32)(piece - k) * p[k]) % 65521u;
  }
  a = over_block(a, slots);
  b = over_block(b, slots);
  if (threadIdx.x == 0) sums[blockIdx.x] = (b + piece) % 65521u << 16 | (a + 1) % 65521u;
}

// Three parities of DISKS disks over the field of 256 elements, four bytes at a time.
__device__ __forceinline__ u32 doubled(u32 v) { return (v << 1 & 0xfefefefeu) ^ ((v >> 7 & 0x01010101u) * 0x1du); }
template <int DISKS>
__global__ void raid_parity(const u32* __restrict__ data, u32* __restrict__ parity, int n) {
  const int i = global_id();
  if (i >= n) return;
  u32 p = 0, q = 0, r = 0;
#pragma unroll
  for (int d = 0; d < DISKS; d++) {
    const u32 v = data[(size_t)d * n + i];
    p ^= v;
    q = doubled(q) ^ v;
    r = doubled(doubled(r)) ^ v;
  }
  parity[i] = p;
  parity[n + i] = q;
  parity[2 * n + i] = r;
}

// ------------------------------------------------------------------------------------------------- sorting, searching

// The bucket of each key between 255 splitters, by eight steps in shared memory; and how many keys a bucket has.
__global__ void bucket_by_splitters(const int* __restrict__ keys, const int* __restrict__ splitters,
                                    u8* __restrict__ buckets, int* counts, int n) {
  __shared__ int tree[256], mine[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    tree[k] = splitters[k];
    mine[k] = 0;
  }
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const int key = keys[i];
    int bucket = 0;
#pragma unroll
    for (int half = 128; half > 0; half >>= 1)
      if (tree[bucket + half - 1] <= key) bucket += half;
    buckets[i] = bucket;
    atomicAdd(mine + bucket, 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x)
    if (mine[k]) atomicAdd(counts + k, mine[k]);
}

// Each thread sorts N numbers of its own by a comb; their places are known only at run time.
template <int N>
__global__ void comb_sort(const int* __restrict__ in, int* __restrict__ out, int rows) {
  const int r = global_id();
  if (r >= rows) return;
  int v[N];
  for (int k = 0; k < N; k++) v[k] = in[k * rows + r];
  int gap = N;
  bool swapped = true;
  while (gap > 1 || swapped) {
    gap = max(gap * 10 / 13, 1);
    swapped = false;
    for (int k = 0; k + gap < N; k++)
      if (v[k] > v[k + gap]) {
        const int t = v[k];
        v[k] = v[k + gap];
        v[k + gap] = t;
        swapped = true;
      }
  }
  for (int k = 0; k < N; k++) out[k * rows + r] = v[k];
}

// Assignments of 32 variables at random: the first clause that each one fails, or the number of clauses.
__global__ void first_failed(const int* __restrict__ clauses, int* __restrict__ failed, int count, int n, u32 seed) {
  const int i = global_id();
  if (i >= n) return;
  u32 h = (u32)i ^ seed;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  int c = 0;
  for (; c < count; ++c) {
    bool holds = false;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int literal = clauses[3 * c + k];
      holds |= (h >> (literal >> 1) & 1) != (literal & 1);
    }
    if (!holds) break;
  }
  failed[i] = c;
}
