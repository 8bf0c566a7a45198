// Idea: warps that work together: a scan with shuffles, warps with different tasks, counting with votes and atomics,
//       blocks that are not a whole number of warps.
// Memory traffic: each element is read once and written once. Launch: block 200 (scan, edges), 128 (roles, compact).

__device__ inline float warp_scan(float value) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const float other = __shfl_up_sync(__activemask(), value, distance);
    if (lane >= distance) value += other;
  }
  return value;
}

// Scan of a block: each warp scans its lanes, one warp scans the sums of the warps.
__global__ void scan_by_warps(const float* in, float* out) {
  __shared__ float sums[32];
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const int warp = threadIdx.x / 32;
  float value = warp_scan(in[k]);
  if (threadIdx.x % 32 == 31 || threadIdx.x + 1 == blockDim.x) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const int warps = (blockDim.x + 31) / 32;
    float sum = threadIdx.x < warps ? sums[threadIdx.x] : 0;
    sum = warp_scan(sum);
    if (threadIdx.x < warps) sums[threadIdx.x] = sum;
  }
  __syncthreads();
  out[k] = warp > 0 ? value + sums[warp - 1] : value;
}

// The first warp loads data; the others work on what it loaded before.
__global__ void warps_with_roles(const float* in, float* out, int turns) {
  __shared__ float stage[2][96];
  const int thread = threadIdx.x;
  float sum = 0;
  for (int turn = 0; turn <= turns; ++turn) {
    if (thread < 32) {
      if (turn < turns) {
        for (int k = thread; k < 96; k += 32) stage[turn & 1][k] = in[(blockIdx.x * turns + turn) * 96 + k];
      }
    } else if (turn > 0) {
      sum += stage[(turn - 1) & 1][thread - 32] * turn;
    }
    __syncthreads();
  }
  if (thread >= 32) out[blockIdx.x * 96 + thread - 32] = sum;
}

// Keep the elements over a limit: ballot gives each lane its index, one atomic per warp the warp's.
__global__ void compact(const float* in, float* out, unsigned int* count, float limit) {
  __shared__ unsigned int taken;
  __shared__ float kept[128];
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  const float value = in[blockIdx.x * 128 + threadIdx.x];
  const unsigned int wanted = __ballot_sync(0xffffffffu, value > limit);
  const int lane = threadIdx.x % 32;
  unsigned int base = 0;
  if (lane == 0) base = atomicAdd(&taken, __popc(wanted));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (value > limit) kept[base + __popc(wanted & ((1u << lane) - 1))] = value;
  __syncthreads();
  if (threadIdx.x < taken) out[blockIdx.x * 128 + threadIdx.x] = kept[threadIdx.x];
  if (threadIdx.x == 0) count[blockIdx.x] = taken;
}

// Maximum and minimum of a block by shared atomics, then one comparison with both neighbours.
__global__ void edges(const int* in, int* out) {
  __shared__ int highest, lowest;
  __shared__ int row[202];
  const int k = blockIdx.x * 200 + threadIdx.x;
  if (threadIdx.x == 0) {
    highest = -1000000;
    lowest = 1000000;
    row[0] = 0;
    row[201] = 0;
  }
  row[threadIdx.x + 1] = in[k];
  __syncthreads();
  atomicMax(&highest, in[k]);
  atomicMin(&lowest, in[k]);
  __syncthreads();
  const int rise = row[threadIdx.x + 2] - row[threadIdx.x];
  out[k] = rise * 100 / (highest - lowest + 1);
}
