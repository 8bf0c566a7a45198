// Kernels whose local variables have no value on some paths, and that never use them there.

// A value that is read only where it was written.
extern "C" __global__ void guarded_value(const float* x, float* y, int n) {
  int i = threadIdx.x;
  float value;
  if (i < n) value = x[i];
  __syncthreads();
  if (i < n) y[i] = value;
}

// The last element of a list, and a list that has one at least.
extern "C" __global__ void last_positive(const float* x, int* y, int n) {
  int last;
  for (int i = 0; i < n; ++i)
    if (x[threadIdx.x * n + i] > 0.0f) last = i;
  y[threadIdx.x] = last;
}

// The index of the largest: the first comparison always holds.
extern "C" __global__ void place_of_largest(const float* x, int* y, int n) {
  int best;
  float largest = -1e30f;
  for (int i = 0; i < n; ++i) {
    float value = x[threadIdx.x * n + i];
    if (value > largest) largest = value, best = i;
  }
  y[threadIdx.x] = best;
}

// Differences of neighbours: the first turn has no neighbour.
extern "C" __global__ void differences(const float* x, float* y, int n) {
  float before;
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    float value = x[threadIdx.x * n + i];
    if (i > 0) sum += fabsf(value - before);
    before = value;
  }
  y[threadIdx.x] = sum;  // of differences
}

// Lanes beyond the end shuffle what has no value. Nobody uses what they give.
extern "C" __global__ void sum_of_some_lanes(const float* x, float* y, int n) {
  float value;
  if (threadIdx.x < n) value = x[threadIdx.x];
  float sum = 0.0f;
  for (int lane = 0; lane < n; ++lane) sum += __shfl_sync(0xffffffff, value, lane);
  if (threadIdx.x < n) y[threadIdx.x] = sum - value;
}

// Lanes beyond the end take part, but their sums are thrown away.
extern "C" __global__ void prefix_of_some_lanes(const int* x, int* y, int n) {
  int value;
  if (threadIdx.x < n) value = x[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    int other = __shfl_up_sync(0xffffffff, value, distance);
    if (threadIdx.x >= distance) value += other;
  }
  if (threadIdx.x < n) y[threadIdx.x] = value;
}

// A pack of which only some elements have values, stored element by element.
extern "C" __global__ void part_of_a_pack(const float* x, float* y, int n) {
  float4 pack;
  int first = 4 * threadIdx.x;
  if (first < n) pack.x = x[first];
  if (first + 1 < n) pack.y = x[first + 1];
  if (first + 2 < n) pack.z = x[first + 2];
  if (first + 3 < n) pack.w = x[first + 3];
  if (first < n) y[first] = pack.x;
  if (first + 1 < n) y[first + 1] = pack.y;
  if (first + 2 < n) y[first + 2] = pack.z;
  if (first + 3 < n) y[first + 3] = pack.w;
}

// Structures with padding, copied through a local array.
struct Pair {
  char kind;
  double value;
};

struct Mixed {
  short first;
  float second;
  char third;
};

extern "C" __global__ void padded_structures(const Pair* pairs, const Mixed* mixed, Pair* y, Mixed* z, int turn) {
  Pair own[4];
  Mixed other[4];
  for (int i = 0; i < 4; ++i) {
    own[i].kind = pairs[4 * threadIdx.x + i].kind;
    own[i].value = pairs[4 * threadIdx.x + i].value;
    other[i].first = mixed[4 * threadIdx.x + i].first;
    other[i].second = mixed[4 * threadIdx.x + i].second;
    other[i].third = mixed[4 * threadIdx.x + i].third;
  }
  for (int i = 0; i < 4; ++i) {
    y[4 * threadIdx.x + i] = own[(i + turn) % 4];
    z[4 * threadIdx.x + i] = other[(i + turn) % 4];
  }
}

// A local array that is written in part, and read only there.
extern "C" __global__ void queue_of_a_thread(const int* x, int* y, int n) {
  int queue[16];
  int count = 0;
  for (int i = 0; i < n; ++i) {
    int value = x[threadIdx.x * n + i];
    if (value % 3 == 0) queue[count++ % 16] = value;
  }
  int sum = 0;
  for (int i = 0; i < min(count, 16); ++i) sum = 2 * sum + queue[i];
  y[threadIdx.x] = sum;  // of a queue
}

// An array of which an unwritten element is loaded, and thrown away.
extern "C" __global__ void unused_element(const int* x, int* y, int n) {
  int values[8];
  for (int i = 0; i < n; ++i) values[i] = x[threadIdx.x * n + i];
  int found = 0;
  for (int i = 0; i < 8; ++i) {
    int value = values[(i + x[0]) % 8];
    found += (i + x[0]) % 8 < n ? value : 1;
  }
  y[threadIdx.x] = found;
}

// Bytes that are put together, of which some have no value and are masked off.
extern "C" __global__ void bytes_in_a_word(const unsigned char* x, unsigned* y, int n, unsigned mask) {
  unsigned char bytes[8];
  for (int i = 0; i < n; ++i) bytes[i] = x[threadIdx.x * n + i];
  unsigned word = 0;
  for (int i = 0; i < 4; ++i) word |= (unsigned)bytes[(i + x[0]) % 4] << 8 * i;
  y[threadIdx.x] = word & mask;
}

// A load that a predicate leaves out, in assembly: the value before stays.
extern "C" __global__ void predicated_load(const float* x, float* y, int n) {
  int i = threadIdx.x;
  float value;
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; @p ld.global.f32 %0, [%3]; @!p mov.f32 %0, 0f00000000; }"
               : "=f"(value) : "r"(i), "r"(n), "l"(x + i));
  y[i] = value;  // or zero
}

// Two paths that each write half of the variables, and read only that half.
extern "C" __global__ void two_paths(const float* x, float* y, int n) {
  int i = threadIdx.x;
  float left, right;
  bool even = i % 2 == 0;
  if (even) left = x[i];
  else right = x[i];
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    if (even) sum += left * k;
    else sum -= right * k;
  }
  y[i] = sum;  // of one path
}

// A flag that is set in the first turn.
extern "C" __global__ void flag_of_the_first_turn(const int* x, int* y, int n) {
  bool rising;
  int turns = 0;
  for (int i = 1; i < n; ++i) {
    bool now = x[threadIdx.x * n + i] > x[threadIdx.x * n + i - 1];
    if (i > 1 && now != rising) ++turns;
    rising = now;
  }
  y[threadIdx.x] = turns;
}
