// Kernels with a fault, as repositories have them: tables, graphs, sorts, attention, pages, guards, groups, pipelines.
// "// BUG" ends each line to blame.
#include "asm.cuh"

// == patches_padded_on_the_left_only
struct Image {
  const float* pixels;
  int height, width;
  __device__ float at(int y, int x) const {
    if (y < 0 || x < 0 || y >= height) return 0;
    return pixels[y * width + x];  // BUG
  }
};
extern "C" __global__ void patches_padded_on_the_left_only(const float* pixels, float* columns, int height, int width) {
  Image image{pixels, height, width};
  for (int i = threadIdx.x; i < height * width; i += blockDim.x) {
    int y = i / width, x = i % width;
    for (int k = 0; k < 9; ++k) columns[k * height * width + i] = image.at(y + k / 3 - 1, x + k % 3 - 1);
  }
}

// == neighbours_until_the_mark
template <typename Visit>
__device__ void for_each_neighbour(const int* lists, int begin, Visit visit) {
  for (int k = begin; lists[k] >= 0; ++k) visit(lists[k]);  // BUG
}
extern "C" __global__ void neighbours_until_the_mark(const int* lists, const int* begins, int* degree, int nodes) {
  int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes) return;
  int count = 0, last = -1;
  for_each_neighbour(lists, begins[node], [&](int other) {
    count += other > last;
    last = other;
  });
  degree[node] = count;
}

// == batch_offset_overflows
template <typename T>
struct Batched {
  T* data;
  int rows, stride;
  __device__ T* matrix(int batch) const { return data + batch * stride; }
};
extern "C" __global__ void batch_offset_overflows(const float* a, float* y, int rows, int stride) {
  Batched<const float> batched{a, rows, stride};
  const float* matrix = batched.matrix(blockIdx.x * 16 + threadIdx.y);
  float sum = 0;
  for (int k = threadIdx.x; k < rows; k += blockDim.x) sum += matrix[k];  // BUG
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x * blockDim.y + threadIdx.y] = sum;
}

// == fragment_stored_where_columns_alone_are_tested
template <int TM, int TN>
__device__ void store_fragment(float* c, const float (&acc)[TM][TN], int row, int col, int m, int n) {
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      if (col + j < n) c[(row + i) * n + col + j] = acc[i][j];  // BUG
}
extern "C" __global__ void fragment_stored_where_columns_alone_are_tested(const float* a, float* c, int m, int n) {
  int row = threadIdx.y * 2, col = threadIdx.x * 4;
  float acc[2][4];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) acc[i][j] = a[min(row + i, m - 1)] * (1 + min(col + j, n - 1));
  store_fragment(c, acc, row, col, m, n);
}

// == probes_run_beyond_the_table
struct Table {
  unsigned* keys;
  int* values;
  int slots;
  __device__ void insert(unsigned key, int value) {
    int slot = key * 2654435761u % slots;
    while (true) {
      unsigned before = atomicCAS(&keys[slot], 0u, key);  // BUG
      if (before == 0 || before == key) break;
      ++slot;
    }
    atomicAdd(&values[slot], value);
  }
};
extern "C" __global__ void probes_run_beyond_the_table(const unsigned* x, unsigned* keys, int* values, int slots,
                                                       int n) {
  Table table{keys, values, slots};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) table.insert(x[i], 1);
}

// == words_counted_by_looking_ahead
__device__ bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
extern "C" __global__ void words_counted_by_looking_ahead(const char* text, int* words, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (is_letter(text[i]) && !is_letter(text[i + 1])) atomicAdd(&count, 1);  // BUG
  __syncthreads();
  if (threadIdx.x == 0) *words = count;
}

// == z_order_of_a_grid_of_twelve
__device__ unsigned spread(unsigned v) {
  v = (v | v << 4) & 0x0f0f;
  v = (v | v << 2) & 0x3333;
  return (v | v << 1) & 0x5555;
}
extern "C" __global__ void z_order_of_a_grid_of_twelve(const float* x, float* y, int side) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= side || col >= side) return;
  unsigned code = spread(col) | spread(row) << 1;
  y[code] = x[row * side + col];  // BUG
}

// == page_that_was_never_allocated
struct PagedCache {
  const float* pages;
  const int* table;
  int page_size, head_size;
  __device__ const float* key(int sequence, int position, int pages_per_sequence) const {
    int page = table[sequence * pages_per_sequence + position / page_size];
    return pages + (page * page_size + position % page_size) * head_size;
  }
};
extern "C" __global__ void page_that_was_never_allocated(const float* pages, const int* table, const int* lengths,
                                                         const float* query, float* scores, int most) {
  PagedCache cache{pages, table, 4, 8};
  int sequence = blockIdx.x;
  for (int p = threadIdx.x; p < most; p += blockDim.x) {
    const float* key = cache.key(sequence, p, most / 4);
    float score = 0;
    for (int d = 0; d < 8; ++d) score += query[sequence * 8 + d] * key[d];  // BUG
    scores[sequence * most + p] = p < lengths[sequence] ? score : -1e9f;
  }
}

// == loss_of_a_token_to_ignore
extern "C" __global__ void loss_of_a_token_to_ignore(const float* logits, const int* targets, float* losses,
                                                     int classes) {
  int row = blockIdx.x, lane = threadIdx.x;
  float most = -1e30f, sum = 0;
  for (int c = lane; c < classes; c += 32) most = fmaxf(most, logits[row * classes + c]);
  for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
  for (int c = lane; c < classes; c += 32) sum += __expf(logits[row * classes + c] - most);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) losses[row] = logf(sum) + most - logits[row * classes + targets[row]];  // BUG
}

// == bags_of_an_offset_each
extern "C" __global__ void bags_of_an_offset_each(const float* weights, const int* items, const int* offsets, float* y,
                                                  int bags, int width) {
  int bag = blockIdx.x * blockDim.y + threadIdx.y;
  if (bag >= bags) return;
  int begin = offsets[bag], end = offsets[bag + 1];  // BUG
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0;
    for (int i = begin; i < end; ++i) sum += weights[items[i] * width + c];
    y[bag * width + c] = end > begin ? sum / (end - begin) : 0;
  }
}

// == events_logged_beyond_the_ring
__device__ int events[16];
__device__ unsigned logged;
__device__ void log_event(int code) {
  unsigned at = atomicAdd(&logged, 1u);
  events[at] = code;  // BUG
}
extern "C" __global__ void events_logged_beyond_the_ring(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  if (v > 20) log_event(i);
  y[i] = v > 20 ? 1 : 0;
}

// == taps_of_a_symmetric_filter
__constant__ float taps[4] = {0.4f, 0.2f, 0.07f, 0.03f};
template <int RADIUS>
__device__ float filtered(const float* s) {
  float sum = s[0] * taps[0];
#pragma unroll 1
  for (int k = 1; k <= RADIUS; ++k) sum += taps[k] * (s[k] + s[-k]);  // BUG
  return sum;
}
extern "C" __global__ void taps_of_a_symmetric_filter(const float* x, float* y, int n) {
  __shared__ float s[64 + 8];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t + 4] = i < n ? x[i] : 0;
  if (t < 4) {
    s[t] = i >= 4 ? x[i - 4] : 0;
    s[t + 68] = i + 64 < n ? x[i + 64] : 0;
  }
  __syncthreads();
  if (i < n) y[i] = filtered<4>(&s[t + 4]);
}

// == last_field_of_a_structure_of_arrays
template <int FIELDS>
struct Fields {
  float* base;
  int count;
  __device__ float& operator()(int field, int i) { return base[field * ((count + 31) / 32 * 32) + i]; }
};
extern "C" __global__ void last_field_of_a_structure_of_arrays(float* particles, int n, float step) {
  Fields<4> p{particles, n};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = p(2, i) - step * p(0, i);
  p(2, i) = v;
  p(0, i) += step * v;
  p(3, i) = p(1, i) + v;  // BUG
}

// == sort_of_a_length_that_is_no_power_of_two
template <typename T>
__device__ void compare_and_swap(T& a, T& b, bool up) {
  if ((a > b) == up) {  // BUG
    T c = a;
    a = b;
    b = c;
  }
}
extern "C" __global__ void sort_of_a_length_that_is_no_power_of_two(const int* x, int* y, int n) {
  extern __shared__ int keys[];
  int t = threadIdx.x;
  if (t < n) keys[t] = x[t];
  __syncthreads();
  for (int size = 2; size / 2 < n; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      int other = t ^ step;
      if (t < n && other > t) compare_and_swap(keys[t], keys[other], (t & size) == 0);
      __syncthreads();
    }
  if (t < n) y[t] = keys[t];
}

// == digits_of_five_bits_in_sixteen_counters
template <int BITS>
__device__ int digit_of(unsigned key, int shift) {
  return key >> shift & (1 << BITS) - 1;
}
extern "C" __global__ void digits_of_five_bits_in_sixteen_counters(const unsigned* x, int* y, int n, int shift) {
  __shared__ int counters[16];
  int t = threadIdx.x;
  if (t < 16) counters[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) atomicAdd(&counters[digit_of<5>(x[i], shift)], 1);  // BUG
  __syncthreads();
  if (t < 16) y[t] = counters[t];
}

// == delay_line_read_before_its_start
extern "C" __global__ void delay_line_read_before_its_start(const float* x, float* y, int n, int taps) {
  __shared__ float line[64];
  int t = threadIdx.x;
  for (int base = 0; base < n; base += 64) {
    line[t] = x[base + t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += line[(t - k) % 64];  // BUG
    y[base + t] = sum / taps;
    __syncthreads();
  }
}

// == number_written_with_its_sign
__device__ int to_text(int value, char* text) {
  char digits[10];
  int count = 0;
  unsigned rest = value < 0 ? -value : value;
  do {
    digits[count++] = '0' + rest % 10;
    rest /= 10;
  } while (rest);
  if (value < 0) digits[count++] = '-';  // BUG
  for (int k = 0; k < count; ++k) text[k] = digits[count - 1 - k];
  return count;
}
extern "C" __global__ void number_written_with_its_sign(const int* x, char* text, int* lengths) {
  int i = threadIdx.x;
  lengths[i] = to_text(x[i], text + 12 * i);
}

// == square_clipped_by_two_lines
struct Polygon {
  int count;
  float2 corners[5];
};
__device__ void clip(Polygon& p, float a, float b, float c) {
  Polygon kept;
  kept.count = 0;
  for (int i = 0; i < p.count; ++i) {
    float2 from = p.corners[i], to = p.corners[(i + 1) % p.count];
    float d = a * from.x + b * from.y - c, e = a * to.x + b * to.y - c;
    if (d <= 0) kept.corners[kept.count++] = from;  // BUG
    if ((d <= 0) != (e <= 0)) {
      float s = d / (d - e);
      kept.corners[kept.count++] = make_float2(from.x + s * (to.x - from.x), from.y + s * (to.y - from.y));  // BUG
    }
  }
  p = kept;
}
extern "C" __global__ void square_clipped_by_two_lines(const float* limits, float* area) {
  int t = threadIdx.x;
  Polygon p;
  p.count = 4;
  for (int i = 0; i < 4; ++i) p.corners[i] = make_float2(i == 1 || i == 2, i / 2);
  clip(p, 1, 1, limits[2 * t]);
  clip(p, -1, 1, limits[2 * t + 1]);
  float sum = 0;
  for (int i = 0; i < p.count; ++i) {
    float2 from = p.corners[i], to = p.corners[(i + 1) % p.count];
    sum += from.x * to.y - to.x * from.y;
  }
  area[t] = sum / 2;
}

// == path_popped_once_too_often
extern "C" __global__ void path_popped_once_too_often(const int* text, int* depths, int length) {
  int stack[8], top = 0, deepest = 0;
  const int* mine = text + threadIdx.x * length;
  for (int i = 0; i < length; ++i) {
    if (mine[i] > 0) {
      if (top < 8) stack[top++] = mine[i];
      deepest = max(deepest, top);
    } else {
      int open = stack[--top];  // BUG
      if (open != -mine[i]) deepest = -1;
    }
  }
  depths[threadIdx.x] = deepest;
}

// == record_with_a_double_at_twelve
struct Reader {
  const unsigned char* bytes;
  template <typename T>
  __device__ T get(int offset) const {
    return *reinterpret_cast<const T*>(bytes + offset);  // BUG
  }
};
extern "C" __global__ void record_with_a_double_at_twelve(const unsigned char* records, double* y, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Reader record{records + i * size};
  int kind = record.get<int>(0);
  y[i] = kind >= 0 ? record.get<double>(12) : 0.0;
}

// == barrier_carved_behind_three_words
extern "C" __global__ void barrier_carved_behind_three_words(const float* x, float* y) {
  extern __shared__ __align__(16) unsigned char storage[];
  int* header = reinterpret_cast<int*>(storage);
  unsigned long long* full = reinterpret_cast<unsigned long long*>(header + 3);
  float* tile = reinterpret_cast<float*>(storage + 32);
  int t = threadIdx.x;
  if (t == 0) {
    header[0] = 64;
    MBAR_INIT(full, 1);  // BUG
    MBAR_EXPECT(full, 256);
    BULK_LOAD(tile, x, 256, full);
  }
  __syncthreads();
  MBAR_WAIT(full, 0);
  y[t] = tile[header[0] - 1 - t];
}

// == bulk_row_of_ten_floats
extern "C" __global__ void bulk_row_of_ten_floats(const float* x, float* y, int pitch) {
  __shared__ alignas(16) float row[8];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    MBAR_EXPECT(&full, 32);
    BULK_LOAD(row, x + blockIdx.x * pitch, 32, &full);  // BUG
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  if (t < 8) y[blockIdx.x * 8 + t] = row[7 - t];
}

// == mask_that_the_caller_left_out
struct Attention {
  const float* scores;
  const unsigned char* mask;
  bool causal;
};
__device__ float score_of(const Attention& a, int row, int col, int n) {
  float s = a.scores[row * n + col];
  if (a.causal && col > row) return -1e9f;
  return a.mask[col] ? s : -1e9f;  // BUG
}
extern "C" __global__ void mask_that_the_caller_left_out(const float* scores, const unsigned char* mask, float* y,
                                                         int n) {
  Attention a{scores, mask, true};
  int row = blockIdx.x, lane = threadIdx.x;
  float s = lane < n ? score_of(a, row, lane, n) : -1e30f, most = s;
  for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
  float e = lane < n ? __expf(s - most) : 0, sum = e;
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane < n) y[row * n + lane] = e / sum;
}

// == node_read_after_it_is_freed
struct Node {
  int value;
  Node* next;
};
extern "C" __global__ void node_read_after_it_is_freed(const int* x, int* y, int n) {
  Node* head = nullptr;
  for (int i = 0; i < n; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (!node) return;
    node->value = x[threadIdx.x * n + i];
    node->next = head;
    head = node;
  }
  int sum = 0;
  for (Node* node = head; node;) {
    sum = 3 * sum + node->value;
    free(node);
    node = node->next;  // BUG
  }
  y[threadIdx.x] = sum;
}

// == scratch_of_the_heap_without_a_test
extern "C" __global__ void scratch_of_the_heap_without_a_test(const int* sizes, float* y) {
  __shared__ float* scratch;
  int t = threadIdx.x, size = sizes[blockIdx.x];
  if (t == 0) scratch = static_cast<float*>(malloc(size * sizeof(float)));
  __syncthreads();
  for (int i = t; i < 64; i += blockDim.x) scratch[i] = i * 0.5f;  // BUG
  __syncthreads();
  y[blockIdx.x * 64 + t] = scratch[63 - t];
  __syncthreads();
  if (t == 0) free(scratch);
}

// == heap_array_one_too_short
extern "C" __global__ void heap_array_one_too_short(const int* lengths, int* y) {
  int n = lengths[threadIdx.x], *prefix = static_cast<int*>(malloc(n * sizeof(int)));
  if (!prefix) return;
  prefix[0] = 0;
  for (int i = 0; i < n; ++i) prefix[i + 1] = prefix[i] + i * i;  // BUG
  y[threadIdx.x] = prefix[n];
  free(prefix);
}

// == keys_padded_into_the_counts
extern "C" __global__ void keys_padded_into_the_counts(const int* x, int* y, int n) {
  extern __shared__ int storage[];
  int *keys = storage, *counts = keys + n, t = threadIdx.x;
  if (t < 16) counts[t] = 0;  // BUG
  for (int i = t; i < (n + 31) / 32 * 32; i += blockDim.x) keys[i] = i < n ? x[i] : -1;  // BUG
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) atomicAdd(&counts[keys[i] & 15], 1);
  __syncthreads();
  if (t < 16) y[t] = counts[t];
}

// == sums_with_the_padding_column
template <int N>
struct PaddedTile {
  float cells[N][N + 1];
};
extern "C" __global__ void sums_with_the_padding_column(const float* x, float* y) {
  __shared__ PaddedTile<16> tile;
  int col = threadIdx.x, row = threadIdx.y;
  tile.cells[row][col] = x[row * 16 + col];
  __syncthreads();
  if (row == 0) {
    const float* first = tile.cells[col];
    float sum = 0;
    for (const float* p = first; p <= first + 16; ++p) sum += *p;  // BUG
    y[col] = sum;
  }
}

// == idle_warps_leave_their_slot
__device__ float warp_sum(float v) {
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);
  return v;
}
extern "C" __global__ void idle_warps_leave_their_slot(const float* x, float* y, int n) {
  __shared__ float slots[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int base = warp * 32; base < n; base += blockDim.x) {
    float sum = warp_sum(base + lane < n ? x[base + lane] : 0);
    if (lane == 0) slots[warp] = base < (int)blockDim.x ? sum : slots[warp] + sum;
  }
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) sum += slots[w];  // BUG
    *y = sum;
  }
}

// == pooled_over_pixels_that_nobody_loaded
extern "C" __global__ void pooled_over_pixels_that_nobody_loaded(const float* x, float* y, int height, int width) {
  __shared__ float tile[16][16];
  int ty = threadIdx.y, tx = threadIdx.x, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  if (row < height && col < width) tile[ty][tx] = x[row * width + col];
  __syncthreads();
  if (ty % 2 || tx % 2 || row >= height || col >= width) return;
  float most = -1e30f;
  for (int dy = 0; dy < 2; ++dy)
    for (int dx = 0; dx < 2; ++dx) most = fmaxf(most, tile[ty + dy][tx + dx]);  // BUG
  y[row / 2 * ((width + 1) / 2) + col / 2] = most;
}

// == group_copy_counted_in_elements
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_copy_counted_in_elements(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[64];
  auto block = cg::this_thread_block();
  for (int i = 0; i < tiles; ++i) {
    cg::memcpy_async(block, tile, x + i * 64, 64);
    cg::wait(block);
    y[i * 64 + block.thread_rank()] = tile[63 - block.thread_rank()];  // BUG
    block.sync();
  }
}

// == matrix_of_the_launch_with_one_dimension
extern "C" __global__ void matrix_of_the_launch_with_one_dimension(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][8], bs[8][8];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + col];
    __syncthreads();
    for (int j = 0; j < 8; ++j) sum += as[ty][j] * bs[j][tx];  // BUG
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// == horner_above_the_degree
template <int MOST>
struct Polynomial {
  float c[MOST];
  int degree;
};
extern "C" __global__ void horner_above_the_degree(const float* coefficients, const int* degrees, const float* x,
                                                   float* y) {
  int i = threadIdx.x;
  Polynomial<8> p;
  p.degree = degrees[i];
  for (int k = 0; k <= p.degree; ++k) p.c[k] = coefficients[8 * i + k];
  float value = 0;
#pragma unroll 1
  for (int k = 7; k >= 0; --k) value = value * x[i] + p.c[k];  // BUG
  y[i] = value;  // BUG
}

// == reflection_without_its_head
extern "C" __global__ void reflection_without_its_head(const float* columns, float* y, int n, int k) {
  float v[12], norm = 0;
  const float* column = columns + threadIdx.x * n;
  for (int i = k + 1; i < n; ++i) {
    v[i] = column[i];
    norm += v[i] * v[i];
  }
  float dot = 0;
#pragma unroll 1
  for (int i = k; i < n; ++i) dot += v[i] * column[i];  // BUG
  y[threadIdx.x] = dot / (norm + 1);  // BUG
}

// == slots_of_a_table_cleared_by_half
extern "C" __global__ void slots_of_a_table_cleared_by_half(const int* x, int* y, int n) {
  __shared__ int keys[128];
  __shared__ int distinct;
  int t = threadIdx.x;
  if (t == 0) distinct = 0;
  keys[t] = -1;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    int slot = x[i] * 37 & 127;
    for (;;) {
      int before = atomicCAS(&keys[slot], -1, x[i]);  // BUG
      if (before == -1) atomicAdd(&distinct, 1);
      if (before == -1 || before == x[i]) break;
      slot = slot + 1 & 127;
    }
  }
  __syncthreads();
  if (t == 0) *y = distinct;
}

// == items_packed_in_one_row
extern "C" __global__ void items_packed_in_one_row(const int* weights, const int* values, int* best, int items) {
  __shared__ int row[128];
  int w = threadIdx.x;
  row[w] = 0;
  __syncthreads();
  for (int i = 0; i < items; ++i) {
    int with = w >= weights[i] ? row[w - weights[i]] + values[i] : 0;  // BUG
    if (with > row[w]) row[w] = with;  // BUG
    __syncthreads();
  }
  if (w == 127) *best = row[w];
}

// == both_of_a_pair_swap
extern "C" __global__ void both_of_a_pair_swap(const int* x, int* y) {
  __shared__ int keys[64];
  int t = threadIdx.x;
  keys[t] = x[t];
  __syncthreads();
  for (int size = 2; size <= 64; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      int low = min(t, t ^ step), high = max(t, t ^ step), a = keys[low], b = keys[high];  // BUG
      if ((a > b) == ((low & size) == 0)) {
        keys[low] = b;  // BUG
        keys[high] = a;  // BUG
      }
      __syncthreads();
    }
  y[t] = keys[t];
}

// == list_ranked_in_place
extern "C" __global__ void list_ranked_in_place(const int* next, int* rank, int n) {
  __shared__ int to[64], hops[64];
  int t = threadIdx.x;
  to[t] = next[t];
  hops[t] = next[t] != t;
  __syncthreads();
  for (int reach = 1; reach < n; reach *= 2) {
    hops[t] += hops[to[t]];  // BUG
    to[t] = to[to[t]];  // BUG
    __syncthreads();
  }
  rank[t] = hops[t];
}

// == rotations_of_overlapping_pairs
__device__ void rotate(float& a, float& b, float c, float s) {
  float old = a;  // BUG
  a = c * old - s * b;  // BUG
  b = s * old + c * b;  // BUG
}
extern "C" __global__ void rotations_of_overlapping_pairs(float* matrix, const float* angles, int rounds) {
  __shared__ float m[8][9];
  int pair = threadIdx.y, row = threadIdx.x;
  m[row][2 * pair] = matrix[row * 8 + 2 * pair];
  m[row][2 * pair + 1] = matrix[row * 8 + 2 * pair + 1];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    int p = (pair + r) % 8, q = (2 * pair + r + 1) % 8;
    float c = cosf(angles[r]), s = sinf(angles[r]);
    if (p != q) rotate(m[row][p], m[row][q], c, s);
    __syncthreads();
  }
  matrix[row * 8 + 2 * pair] = m[row][2 * pair];
  matrix[row * 8 + 2 * pair + 1] = m[row][2 * pair + 1];
}

// == butterfly_read_and_written_at_once
struct Complex {
  float re, im;
};
__device__ Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
extern "C" __global__ void butterfly_read_and_written_at_once(const float2* x, float2* y) {
  __shared__ Complex s[64];
  int t = threadIdx.x;
  for (int k = t; k < 64; k += 32) s[__brev(k) >> 26] = {x[k].x, x[k].y};
  __syncwarp();
  for (int half = 1; half < 64; half *= 2) {
    int j = t % half, i = t / half * 2 * half + j;
    float angle = -3.14159265f * j / half;
    Complex a = s[i], b = Complex{__cosf(angle), __sinf(angle)} * s[i + half];  // BUG
    s[i] = {a.re + b.re, a.im + b.im};  // BUG
    s[i + half] = {a.re - b.re, a.im - b.im};  // BUG
  }
  __syncwarp();
  for (int k = t; k < 64; k += 32) y[k] = make_float2(s[k].re, s[k].im);
}

// == roots_hooked_by_plain_stores
__device__ int root_of(volatile int* parent, int v) {
  while (parent[v] != v) v = parent[v];  // BUG
  return v;
}
extern "C" __global__ void roots_hooked_by_plain_stores(const int2* edges, int* label, int n, int m) {
  __shared__ int parent[64];
  int t = threadIdx.x;
  if (t < n) parent[t] = t;
  __syncthreads();
  for (int e = t; e < m; e += blockDim.x) {
    int a = root_of(parent, edges[e].x), b = root_of(parent, edges[e].y);
    if (a != b) parent[max(a, b)] = min(a, b);  // BUG
  }
  __syncthreads();
  if (t < n) label[t] = root_of(parent, t);
}

// == buffers_swapped_by_those_that_worked
extern "C" __global__ void buffers_swapped_by_those_that_worked(const float* x, float* y, int steps) {
  __shared__ float a[96], b[96];
  float *now = a, *then = b;
  int t = threadIdx.x;
  a[t] = b[t] = x[t];
  __syncthreads();
  for (int i = 0; i < steps; ++i) {
    if (t > 0 && t < blockDim.x - 1) {
      then[t] = 0.25f * now[t - 1] + 0.5f * now[t] + 0.25f * now[t + 1];  // BUG
      float* c = now;
      now = then;
      then = c;
    } else {
      now[t] *= 0.5f;  // BUG
    }
    __syncthreads();
  }
  y[t] = now[t];
}

// == row_state_shared_by_two_warps
struct RowState {
  float most, sum;
};
extern "C" __global__ void row_state_shared_by_two_warps(const float* scores, float* y, int keys) {
  __shared__ RowState state[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 2, half = warp % 2;
  if (lane == 0) state[row] = {-1e30f, 0};
  __syncthreads();
  for (int k = half * 32; k < keys; k += 64) {
    float s = scores[(blockIdx.x * 2 + row) * keys + k + lane], most = s;
    for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
    float e = __expf(s - most);
    for (int o = 16; o; o /= 2) e += __shfl_xor_sync(FULL, e, o);
    if (lane == 0) {
      RowState old = state[row];  // BUG
      float both = fmaxf(old.most, most);
      state[row] = {both, old.sum * __expf(old.most - both) + e * __expf(most - both)};  // BUG
    }
  }
  __syncthreads();
  if (lane == 0 && half == 0) y[blockIdx.x * 2 + row] = logf(state[row].sum) + state[row].most;
}

// == mean_written_where_the_variance_reads
template <int WARPS>
__device__ float block_total(float v, float* slots) {
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;  // BUG
  __syncthreads();
  float sum = 0;
  for (int w = 0; w < WARPS; ++w) sum += slots[w];  // BUG
  return sum;
}
extern "C" __global__ void mean_written_where_the_variance_reads(const float* x, float* y, int cols) {
  __shared__ float slots[4];
  int t = threadIdx.x, row = blockIdx.x;
  float sum = 0, squares = 0;
  for (int c = t; c < cols; c += blockDim.x) sum += x[row * cols + c];
  float mean = block_total<4>(sum, slots) / cols;
  for (int c = t; c < cols; c += blockDim.x) squares += (x[row * cols + c] - mean) * (x[row * cols + c] - mean);
  float scale = rsqrtf(block_total<4>(squares, slots) / cols + 1e-5f);
  for (int c = t; c < cols; c += blockDim.x) y[row * cols + c] = (x[row * cols + c] - mean) * scale;
}

// == windows_of_the_pool_overlap
extern "C" __global__ void windows_of_the_pool_overlap(const float* x, const float* gradient, float* dx, int n,
                                                       int outs) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o >= outs) return;
  int best = 2 * o;
  for (int k = 1; k < 3; ++k)
    if (2 * o + k < n && x[2 * o + k] > x[best]) best = 2 * o + k;
  dx[best] += gradient[o];  // BUG
}

// == batches_with_a_short_stride
extern "C" __global__ void batches_with_a_short_stride(const float* x, float* y, int n, int stride) {
  const float* from = x + blockIdx.y * n;
  float* to = y + blockIdx.y * stride;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = 2 * from[i];  // BUG
}

// == heads_linked_without_an_exchange
struct Lists {
  int *head, *next;
  __device__ void push(int bucket, int item) {
    next[item] = head[bucket];  // BUG
    head[bucket] = item;  // BUG
  }
};
extern "C" __global__ void heads_linked_without_an_exchange(const int* keys, int* head, int* next, int n, int buckets) {
  Lists lists{head, next};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    lists.push(keys[i] % buckets, i);
}

// == beams_gathered_in_place
extern "C" __global__ void beams_gathered_in_place(float* cache, const int* parents, int width) {
  int beam = blockIdx.x;
  const float* from = cache + parents[beam] * width;
  for (int c = threadIdx.x; c < width; c += blockDim.x) cache[beam * width + c] = from[c];  // BUG
}

// == key_appended_while_others_attend
extern "C" __global__ void key_appended_while_others_attend(float* keys, const float* fresh, const float* query,
                                                            float* scores, int length, int size) {
  int head = blockIdx.x, group = head / 2, t = threadIdx.x;
  float* mine = keys + group * (length + 1) * size;
  if (head % 2 == 0 && t < size) mine[length * size + t] = fresh[group * size + t];  // BUG
  __syncthreads();
  for (int p = t; p <= length; p += blockDim.x) {
    float s = 0;
    for (int d = 0; d < size; ++d) s += query[head * size + d] * mine[p * size + d];  // BUG
    scores[head * (length + 1) + p] = s;
  }
}

// == cells_of_both_neighbours
extern "C" __global__ void cells_of_both_neighbours(float* field, const float* flux, int n, int per) {
  int begin = blockIdx.x * per, t = threadIdx.x;
  for (int i = begin + t; i < begin + per; i += blockDim.x)
    if (i < n) {
      float f = flux[i];
      if (i > 0) field[i - 1] += f;  // BUG
      field[i] -= f;  // BUG
    }
}

// == end_of_the_block_before
extern "C" __global__ void end_of_the_block_before(const int* x, int* y, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int o = 1; o < 64; o *= 2) {
    int v = t >= o ? s[t - o] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  int before = blockIdx.x > 0 ? y[blockIdx.x * 64 - 1] : 0;  // BUG
  if (i < n) y[i] = before + s[t];  // BUG
}

// == next_row_taken_plainly
template <typename Work>
__device__ void persistent(int* next, int rows, Work work) {
  __shared__ int row;
  while (true) {
    if (threadIdx.x == 0) row = (*next)++;  // BUG
    __syncthreads();
    int mine = row;
    __syncthreads();
    if (mine >= rows) return;
    work(mine);
  }
}
extern "C" __global__ void next_row_taken_plainly(const float* x, float* y, int* next, int rows, int cols) {
  persistent(next, rows, [&](int row) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) atomicAdd(&y[row], x[row * cols + c]);
  });
}

// == generator_stepped_by_the_whole_warp
struct Generator {
  unsigned state;
  __device__ unsigned next() { return state = state * 1664525u + 1013904223u; }  // BUG
};
extern "C" __global__ void generator_stepped_by_the_whole_warp(Generator* generators, float* y, int draws) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Generator& mine = generators[i / 32];
  float sum = 0;
  for (int k = 0; k < draws; ++k) sum += (mine.next() >> 8) * (1.0f / (1 << 24));
  y[i] = sum / draws;
}

// == halves_added_beside_plain_stores
#include <cuda_fp16.h>
__device__ void add_half(__half* p, float v) {
  unsigned* word = reinterpret_cast<unsigned*>(reinterpret_cast<size_t>(p) & ~size_t(2));
  bool high = reinterpret_cast<size_t>(p) & 2;
  unsigned old = *word, assumed;  // BUG
  do {
    assumed = old;
    unsigned short bits = high ? assumed >> 16 : assumed;
    bits = __half_as_ushort(__float2half(__half2float(__ushort_as_half(bits)) + v));
    old = atomicCAS(word, assumed, high ? assumed & 0xffffu | bits << 16 : assumed & 0xffff0000u | bits);  // BUG
  } while (old != assumed);
}
extern "C" __global__ void halves_added_beside_plain_stores(const float* x, __half* y, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) add_half(&y[2 * (i % 16)], x[i]);
  else if (i < pairs + 16) y[2 * (i - pairs) + 1] = __float2half(1.0f);  // BUG
}

// == guard_that_frees_before_it_publishes
class Guard {
 public:
  __device__ explicit Guard(int* lock) : lock_(lock) {
    while (atomicCAS(lock_, 0, 1) != 0) __nanosleep(20);
    __threadfence();
  }
  __device__ ~Guard() { atomicExch(lock_, 0); }

 private:
  int* lock_;
};
struct Statistics {
  float sum, most;
  int count;
};
extern "C" __global__ void guard_that_frees_before_it_publishes(const float* x, Statistics* all, int* lock) {
  float v = x[blockIdx.x * 32 + threadIdx.x], most = v;
  for (int o = 16; o; o /= 2) {
    v += __shfl_xor_sync(FULL, v, o);
    most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
  }
  if (threadIdx.x == 0) {
    Guard guard(lock);
    all->sum += v;  // BUG
    all->most = fmaxf(all->most, most);  // BUG
    all->count += 32;  // BUG
  }
}

// == semaphore_that_lets_two_in
extern "C" __global__ void semaphore_that_lets_two_in(int* permits, const int* x, int* total) {
  if (threadIdx.x) return;
  while (true) {
    int left = atomicAdd(permits, -1);
    if (left > 0) break;
    atomicAdd(permits, 1);
  }
  __threadfence();
  *total += x[blockIdx.x];  // BUG
  __threadfence();
  atomicAdd(permits, 1);
}

// == arrival_at_the_grid_without_a_release
#include <cuda/atomic>
__device__ void grid_barrier(unsigned* arrived, unsigned blocks) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*arrived);
  __syncthreads();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_relaxed);
    while (count.load(cuda::memory_order_acquire) < blocks) {}
  }
  __syncthreads();
}
extern "C" __global__ void arrival_at_the_grid_without_a_release(const int* x, int* middle, int* y, unsigned* arrived) {
  int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  middle[i] = x[i] * 5;  // BUG
  grid_barrier(arrived, gridDim.x);
  y[i] = middle[n - 1 - i];  // BUG
}

// == tile_announced_in_the_scope_of_its_block
__device__ void announce(int* flag) {
  asm volatile("st.release.cta.global.s32 [%0], 1;" ::"l"(flag) : "memory");  // BUG
}
__device__ void await_tile(const int* flag) {
  int seen;
  do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  // BUG
  while (!seen);
}
extern "C" __global__ void tile_announced_in_the_scope_of_its_block(const int* x, int* tiles, int* flags, int* y) {
  int t = threadIdx.x, block = blockIdx.x;
  tiles[block * 32 + t] = x[block * 32 + t] + (block ? 1 : 0);  // BUG
  __syncthreads();
  if (t == 0) announce(&flags[block]);
  if (block > 0) {
    if (t == 0) await_tile(&flags[block - 1]);
    __syncthreads();
    y[block * 32 + t] = tiles[(block - 1) * 32 + 31 - t];  // BUG
  }
}

// == version_raised_before_the_page_is_written
struct Page {
  int version, words[32];
};
extern "C" __global__ void version_raised_before_the_page_is_written(const int* x, Page* page, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (t == 0) atomicMax(&page->version, 7);
    __syncthreads();
    page->words[t] = x[t];  // BUG
    __threadfence();
  } else {
    if (t == 0)
      while (atomicAdd(&page->version, 0) < 7) {}
    __syncthreads();
    __threadfence();
    y[t] = page->words[31 - t];  // BUG
  }
}

// == deque_bottom_moved_before_the_task
#include <cuda/atomic>
struct Deque {
  int tasks[8], top, bottom;
  __device__ void push(int task) {
    cuda::atomic_ref<int, cuda::thread_scope_device> end(bottom);
    int at = end.load(cuda::memory_order_relaxed);
    end.store(at + 1, cuda::memory_order_release);
    tasks[at % 8] = task;  // BUG
  }
  __device__ int steal() {
    cuda::atomic_ref<int, cuda::thread_scope_device> begin(top), end(bottom);
    int at = begin.load(cuda::memory_order_acquire);
    while (at >= end.load(cuda::memory_order_acquire)) {}
    int task = tasks[at % 8];  // BUG
    begin.store(at + 1, cuda::memory_order_release);
    return task;
  }
};
extern "C" __global__ void deque_bottom_moved_before_the_task(Deque* deque, const int* x, int* y, int n) {
  if (threadIdx.x) return;
  for (int i = 0; i < n; ++i)
    if (blockIdx.x == 0) deque->push(x[i]);
    else y[i] = deque->steal();
}

// == total_of_the_tiles_read_by_the_first_of_them
extern "C" __global__ void total_of_the_tiles_read_by_the_first_of_them(const int* x, int* count, int* total, int* y) {
  __shared__ bool first;
  int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
  v = __reduce_add_sync(FULL, v);
  if (t == 0) {
    total[blockIdx.x] = v;  // BUG
    __threadfence();
    first = atomicAdd(count, 1) == 0;
  }
  __syncthreads();
  if (first && t < gridDim.x) y[t] = total[t];  // BUG
}

// == reader_that_waits_for_another_word
extern "C" __global__ void reader_that_waits_for_another_word(const int* x, int* data, int* ready, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x < 2) {
    data[blockIdx.x * 32 + t] = x[blockIdx.x * 32 + t];  // BUG
    __syncthreads();
    if (t == 0) {
      __threadfence();
      atomicExch(&ready[blockIdx.x], 1);
    }
  } else {
    if (t == 0)
      while (atomicAdd(&ready[0], 0) == 0) {}
    __syncthreads();
    __threadfence();
    y[t] = data[t] + data[32 + t];  // BUG
  }
}

// == sum_of_a_row_under_a_guard
template <int THREADS>
__device__ float sum_of(float v) {
  __shared__ float s[THREADS];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  s[t] = v;
  __syncthreads();  // BUG
  for (int o = blockDim.x / 2; o > 0; o /= 2) {
    if (threadIdx.x < o) s[t] += s[t + o];
    __syncthreads();  // BUG
  }
  return s[threadIdx.y * blockDim.x];
}
extern "C" __global__ void sum_of_a_row_under_a_guard(const float* x, float* y, int rows) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row < rows) {
    float sum = sum_of<128>(x[row * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) y[row] = sum;
  } else {
    __syncthreads();  // BUG
  }
}

// == lambda_that_meets_the_block
extern "C" __global__ void lambda_that_meets_the_block(const int* x, int* y, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  auto shifted = [&](int v) {
    s[t] = v;
    __syncthreads();  // BUG
    int other = s[63 - t];
    __syncthreads();  // BUG
    return other;
  };
  int v = x[t], turns = 1 + (t >= n);
  for (int i = 0; i < turns; ++i) v = shifted(v) + 1;
  __syncthreads();  // BUG
  y[t] = v;
}

// == grid_meets_once_per_tile
#include <cooperative_groups.h>
extern "C" __global__ void grid_meets_once_per_tile(const int* x, int* y, int tiles) {
  auto grid = cooperative_groups::this_grid();
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    y[tile * 32 + threadIdx.x] = x[tile * 32 + threadIdx.x] + 1;
    grid.sync();  // BUG
  }
}

// == token_of_the_phase_before
#include <cuda/barrier>
extern "C" __global__ void token_of_the_phase_before(const int* x, int* y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  auto token = bar.arrive(), again = token;
  int v = 2 * x[t];
  bar.wait(cuda::std::move(token));
  s[t] = v;  // BUG
  (void)bar.arrive();
  bar.wait(cuda::std::move(again));
  y[t] = s[63 - t];  // BUG
}

// == latch_that_counts_the_leader_too
#include <cuda/latch>
using Latch = cuda::latch<cuda::thread_scope_block>;
extern "C" __global__ void latch_that_counts_the_leader_too(const int* x, int* y) {
  __shared__ alignas(Latch) unsigned char storage[sizeof(Latch)];
  __shared__ int s[32];
  Latch& ready = *reinterpret_cast<Latch*>(storage);
  int t = threadIdx.x;
  if (t == 0) new (&ready) Latch(33);
  __syncthreads();
  if (t < 32) {
    s[t] = x[t];
    ready.count_down();
  } else {
    ready.wait();  // BUG
    y[t - 32] = s[63 - t];
  }
}

// == roles_of_four_warps_launched_with_three
extern "C" __global__ void roles_of_four_warps_launched_with_three(const int* x, int* y) {
  __shared__ int stage[2][32];
  int lane = threadIdx.x % 32;
  switch (threadIdx.x / 32) {
    case 0:
    case 1:
      stage[threadIdx.x / 32][lane] = x[threadIdx.x];
      BAR_ARRIVE(1, 128);
      break;
    default:
      BAR_SYNC(1, 128);  // BUG
      y[threadIdx.x - 64] = stage[threadIdx.x / 32 - 2][31 - lane];
  }
}

// == base_from_the_lane_after_the_leader
__device__ int reserve(int* count) {
  unsigned active = __activemask();
  int leader = __ffs(active), base = 0;
  if (threadIdx.x % 32 == leader - 1) base = atomicAdd(count, __popc(active));
  base = __shfl_sync(active, base, leader);  // BUG
  return base + __popc(active & ((1u << threadIdx.x % 32) - 1));
}
extern "C" __global__ void base_from_the_lane_after_the_leader(const int* x, int* y, int* count) {
  int v = x[threadIdx.x];
  if (v % 3 == 0) y[reserve(count)] = v;
}

// == group_of_a_branch_in_a_branch
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_of_a_branch_in_a_branch(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  y[t] = 0;
  if (v > 30) {
    cg::coalesced_group those = cg::coalesced_threads();
    if (v % 2) {
      int most = those.shfl(v, 0);  // BUG
      y[t] = most + those.thread_rank();
    }
    those.sync();  // BUG
    y[t] += those.size();
  }
}

// == scan_in_the_loop_of_a_ragged_list
extern "C" __global__ void scan_in_the_loop_of_a_ragged_list(const int* begins, const int* items, int* y) {
  int list = threadIdx.x, kept = 0;
  for (int i = begins[list]; i < begins[list + 1]; ++i) {
    unsigned odd = __ballot_sync(FULL, items[i] & 1);  // BUG
    kept += __popc(odd);
  }
  y[list] = __reduce_add_sync(FULL, kept);  // BUG
}

// == group_committed_before_its_copies
#include <cuda_pipeline.h>
template <int STAGES>
struct Stages {
  float tile[STAGES][64];
};
extern "C" __global__ void group_committed_before_its_copies(const float* x, float* y, int tiles) {
  __shared__ Stages<2> stages;
  int t = threadIdx.x;
  __pipeline_memcpy_async(&stages.tile[0][t], &x[t], 4);
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    __pipeline_commit();
    if (i + 1 < tiles) __pipeline_memcpy_async(&stages.tile[(i + 1) % 2][t], &x[(i + 1) * 64 + t], 4);  // BUG
    __pipeline_wait_prior(1);
    __syncthreads();
    y[i * 64 + t] = stages.tile[i % 2][63 - t];  // BUG
    __syncthreads();
  }
}

// == bulk_store_awaited_by_another_thread
extern "C" __global__ void bulk_store_awaited_by_another_thread(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[64];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    tile[t] = 2 * x[i * 64 + t];  // BUG
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      BULK_STORE(y + i * 64, tile, 256);  // BUG
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    if (t == 32) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncthreads();
  }
}

// == bulk_store_never_committed
extern "C" __global__ void bulk_store_never_committed(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[64];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    tile[t] = x[i * 64 + t] + 1;  // BUG
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      BULK_STORE(y + i * 64, tile, 256);  // BUG
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
  }
}

// == producer_waits_for_slots_nobody_frees
template <int SLOTS>
struct Ring {
  float slot[SLOTS][32];
  unsigned long long full[SLOTS], empty[SLOTS];
};
extern "C" __global__ void producer_waits_for_slots_nobody_frees(const float* x, float* y, int tiles) {
  __shared__ Ring<2> ring;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      MBAR_INIT(&ring.full[s], 32);
      MBAR_INIT(&ring.empty[s], 32);
    }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    int s = i % 2, parity = i / 2 % 2;
    if (threadIdx.x < 32) {
      MBAR_WAIT(&ring.empty[s], parity);  // BUG
      ring.slot[s][lane] = x[i * 32 + lane];
      MBAR_ARRIVE(&ring.full[s]);
    } else {
      MBAR_WAIT(&ring.full[s], parity);  // BUG
      y[i * 32 + lane] = ring.slot[s][31 - lane];
      MBAR_ARRIVE(&ring.empty[s]);
    }
  }
}

// == values_awaited_at_the_barrier_of_the_keys
extern "C" __global__ void values_awaited_at_the_barrier_of_the_keys(const float* keys, const float* values, float* y) {
  __shared__ alignas(128) float k[64], v[64];
  __shared__ unsigned long long bars[2];
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bars[0], 1);
    MBAR_INIT(&bars[1], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t == 0) {
    MBAR_EXPECT(&bars[0], 256);
    BULK_LOAD(k, keys, 256, &bars[0]);
    MBAR_EXPECT(&bars[1], 256);
    BULK_LOAD(v, values, 256, &bars[1]);  // BUG
  }
  MBAR_WAIT(&bars[0], 0);
  float score = k[63 - t];
  MBAR_WAIT(&bars[0], 0);
  y[t] = score * v[63 - t];  // BUG
}

// == pipeline_consumed_one_stage_ahead
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void pipeline_consumed_one_stage_ahead(const float* x, float* y, int tiles) {
  __shared__ float stage[2][64];
  auto pipe = cuda::make_pipeline();
  int t = threadIdx.x;
  auto load = [&](int i) {
    pipe.producer_acquire();
    if (i < tiles) cuda::memcpy_async(&stage[i % 2][t], &x[i * 64 + t], sizeof(float), pipe);  // BUG
    pipe.producer_commit();
  };
  load(0);
  for (int i = 0; i < tiles; ++i) {
    load(i + 1);
    pipe.consumer_wait();
    __syncthreads();
    y[i * 64 + t] = stage[(i + 1) % 2][63 - t];  // BUG
    __syncthreads();
    pipe.consumer_release();
  }
}

// == rank_taken_from_the_number_of_the_block
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) rank_taken_from_the_number_of_the_block(const int* x, int* y) {
  __shared__ int mine[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  mine[t] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(mine, blockIdx.x ^ 1)[31 - t];  // BUG
  cluster.sync();
}

// == halo_in_the_slot_of_the_other_side
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) halo_in_the_slot_of_the_other_side(const float* x, float* y) {
  __shared__ float cells[32], halo[2];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  unsigned rank = cluster.block_rank();
  cells[t] = x[i];
  cluster.sync();
  float* theirs = cluster.map_shared_rank(halo, rank ^ 1);
  if (t == 0) theirs[0] = cells[t];
  cluster.sync();
  float left = t > 0 ? cells[t - 1] : rank > 0 ? halo[1] : 0.0f;  // BUG
  float right = t < 31 ? cells[t + 1] : rank == 0 ? halo[0] : 0.0f;
  y[i] = left + right;
  cluster.sync();
}

// == flag_in_the_peer_without_a_fence
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) flag_in_the_peer_without_a_fence(const int* x, int* y) {
  __shared__ int inbox[32], told;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x;
  if (t == 0) told = 0;
  cluster.sync();
  if (cluster.block_rank() == 0) {
    cluster.map_shared_rank(inbox, 1)[t] = x[t];  // BUG
    __syncthreads();
    if (t == 0) atomicExch(cluster.map_shared_rank(&told, 1), 1);
  } else {
    if (t == 0)
      while (atomicAdd(&told, 0) == 0) {}
    __syncthreads();
    y[t] = inbox[31 - t];  // BUG
  }
  cluster.sync();
}

// == ring_of_the_cluster_shifts_at_once
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4) ring_of_the_cluster_shifts_at_once(const int* x, int* y) {
  __shared__ int tile[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, sum = 0, size = cluster.num_blocks();
  tile[t] = x[blockIdx.x * 32 + t];
  cluster.sync();
  for (int i = 0; i < size; ++i) {
    sum += (i + 1) * tile[31 - t];
    int next = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % size)[t];  // BUG
    __syncthreads();
    tile[t] = next;  // BUG
    cluster.sync();
  }
  y[blockIdx.x * 32 + t] = sum;
}

// == maximum_swapped_with_a_stale_word
__device__ void atomic_max_float(float* p, float v) {
  int* word = reinterpret_cast<int*>(p);
  int old = *word;
  while (__int_as_float(old) < v)
    if (atomicCAS(word, old, __float_as_int(v)) == old) break;  // BUG
}
extern "C" __global__ void maximum_swapped_with_a_stale_word(const float* x, float* most, int n) {
  float best = -1e30f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) best = fmaxf(best, x[i]);
  atomic_max_float(most, best);
}

// == stride_of_a_share_that_is_zero
extern "C" __global__ void stride_of_a_share_that_is_zero(const float* x, float* y, int n) {
  int share = n / (gridDim.x * blockDim.x), i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = i; k < n; k += share) sum += x[k];  // BUG
  y[i] = sum;
}

// == halved_upwards_until_nothing_is_left
extern "C" __global__ void halved_upwards_until_nothing_is_left(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int left = 32; left > 0; left = (left + 1) / 2) {  // BUG
    int v = t < left ? s[t + left] : 0;  // BUG
    __syncthreads();  // BUG
    if (t < left) s[t] += v;  // BUG
    __syncthreads();  // BUG
  }
  if (t == 0) *y = s[0];
}

// == tree_walked_above_its_root
struct Bounds {
  int parent, left, right;
  float low, high;
};
extern "C" __global__ void tree_walked_above_its_root(Bounds* nodes, const float* leaf, int leaves) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= leaves) return;
  int node = leaves - 1 + i;
  nodes[node].low = nodes[node].high = leaf[i];
  while (node != 0) {
    node = nodes[node].parent;
    atomicMax(reinterpret_cast<int*>(&nodes[node].high), __float_as_int(leaf[i]));  // BUG
  }
}

// == colours_of_neighbours_chosen_at_once
extern "C" __global__ void colours_of_neighbours_chosen_at_once(const int* begins, const int* others, int* colour,
                                                                int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  unsigned taken = 0;
  for (int k = begins[v]; k < begins[v + 1]; ++k) {
    int c = colour[others[k]];  // BUG
    if (c >= 0) taken |= 1u << c;
  }
  colour[v] = __ffs(~taken) - 1;  // BUG
}

// == lower_part_updated_before_the_panel
#include <cooperative_groups.h>
extern "C" __global__ void lower_part_updated_before_the_panel(float* a, int n) {
  auto grid = cooperative_groups::this_grid();
  int row = blockIdx.x, t = threadIdx.x;
  for (int k = 0; k < n - 1; ++k) {
    if (row > k && t == 0) a[row * n + k] /= a[k * n + k];  // BUG
    __syncthreads();
    if (row > k && t > k && t < n) a[row * n + t] -= a[row * n + k] * a[k * n + t];  // BUG
    if (k % 2) grid.sync();
  }
}

// == samples_sorted_while_splitters_are_taken
extern "C" __global__ void samples_sorted_while_splitters_are_taken(const int* x, int* bucket, int n) {
  __shared__ int sample[32], splitter[3];
  int t = threadIdx.x;
  if (t < 32) sample[t] = x[t * n / 32];
  __syncthreads();
  if (t < 32) {
    int rank = 0, mine = sample[t];
    for (int k = 0; k < 32; ++k) rank += sample[k] < mine || (sample[k] == mine && k < t);
    __syncwarp();
    sample[rank] = mine;  // BUG
  }
  if (t >= 32 && t < 35) splitter[t - 32] = sample[8 * (t - 31)];  // BUG
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    int b = 0;
    while (b < 3 && x[i] >= splitter[b]) ++b;
    bucket[i] = b;
  }
}

// == flag_of_convergence_cleared_by_each_block
extern "C" __global__ void flag_of_convergence_cleared_by_each_block(const float* x, float* y, int* changed,
                                                                     float limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) *changed = 0;  // BUG
  __syncthreads();
  float old = y[i], now = 0.5f * (old + x[i]);
  y[i] = now;
  if (fabsf(now - old) > limit) atomicExch(changed, 1);  // BUG
}

