// Kernels for tests/hardware/eleventh_cases.py: other ones than those of the ten sets before, as programs have them.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define FULL 0xffffffffu

__device__ __forceinline__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 mixed(u32 h) {
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  return h ^ h >> 16;
}

// A number between 0 and 1; the state moves on.
__device__ __forceinline__ float luck(u32& state) {
  state = state * 747796405u + 2891336453u;
  return ((state >> 9) + 0.5f) * 1.1920929e-7f;
}

__device__ __forceinline__ float over_warp(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL, value, step);
  return value;
}

// ---------------------------------------------------------------------------------------------------------- searching

// The route of each address: the longest known prefix, in a tree with two bits per level. x: the child, y: the route.
__global__ void longest_prefix(const int2* __restrict__ nodes, const u32* __restrict__ addresses,
                               int* __restrict__ routes, int n) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const u32 address = addresses[i];
    int node = 0, route = -1;
    for (int shift = 30; shift >= 0 && node >= 0; shift -= 2) {
      const int2 entry = nodes[4 * node + (address >> shift & 3)];
      if (entry.y >= 0) route = entry.y;
      node = entry.x;
    }
    routes[i] = route;
  }
}

// Binary search in Eytzinger's order: the children of element k are 2 k and 2 k + 1. `size` is a power of two.
__global__ void eytzinger_search(const int* __restrict__ tree, const int* __restrict__ keys, int* __restrict__ out,
                                 int size, int n) {
  const int i = global_id();
  if (i >= n) return;
  const int key = keys[i];
  int k = 1;
  while (k < size) k = 2 * k + (tree[k] < key);
  out[i] = k >> __ffs(~k);
}

// The squared distance to the nearest point of a tree that divides by x and y in turn; element k has 2 k and 2 k + 1.
__global__ void kd_nearest(const float2* __restrict__ tree, const float2* __restrict__ queries, float* __restrict__ out,
                           int size, int n) {
  const int i = global_id();
  if (i >= n) return;
  const float2 q = queries[i];
  int waiting[24], depth = 0, node = 1;
  float bounds[24], best = 1e30f;
  while (true) {
    while (node < size) {
      const float2 p = tree[node];
      const float dx = q.x - p.x, dy = q.y - p.y;
      best = fminf(best, dx * dx + dy * dy);
      const float apart = (31 - __clz(node)) & 1 ? dy : dx;
      const int near = 2 * node + (apart >= 0.0f);
      waiting[depth] = near ^ 1;
      bounds[depth++] = apart * apart;
      node = near;
    }
    while (depth > 0 && bounds[depth - 1] >= best) depth--;
    if (depth == 0) break;
    node = waiting[--depth];
  }
  out[i] = best;
}

// ------------------------------------------------------------------------------------------------------------- codecs

// Canonical Huffman codes, bit by bit, a thread per stream. book: 16 first codes, 16 counts, 16 starts, the symbols.
__global__ void huffman_decode(const u32* __restrict__ streams, const int* __restrict__ book, u8* __restrict__ out,
                               int n, int symbols, int letters) {
  __shared__ int table[48 + 256];
  for (int k = threadIdx.x; k < 48 + letters; k += blockDim.x) table[k] = book[k];
  __syncthreads();
  const int s = global_id();
  if (s >= n) return;
  u32 word = 0;
  int left = 0, next = 0;
  for (int k = 0; k < symbols; k++) {
    u32 code = 0, place;
    int length = 0;
    do {
      if (left == 0) {
        word = streams[(size_t)next++ * n + s];
        left = 32;
      }
      code = code << 1 | word >> 31;
      word <<= 1;
      left--;
      length++;
      place = code - table[length];
    } while (place >= (u32)table[16 + length]);
    out[(size_t)k * n + s] = table[48 + table[32 + length] + place];
  }
}

// A warp per stream: each token repeats some of the bytes before, then adds a byte.
__global__ void lz_expand(const u32* __restrict__ tokens, u8* out, int* __restrict__ lengths, int streams, int count,
                          int room) {
  const int stream = global_id() / 32, lane = threadIdx.x % 32;
  if (stream >= streams) return;
  u8* mine = out + (size_t)stream * room;
  int at = 0;
  for (int k = 0; k < count; k++) {
    const u32 token = tokens[(size_t)stream * count + k];
    const int length = at ? token >> 8 & 63 : 0, distance = at ? 1 + (token >> 16) % at : 1;
    for (int j = lane; j < length; j += 32) mine[at + j] = mine[at - distance + j % distance];
    if (lane == 0) mine[at + length] = token & 255;
    at += length + 1;
    __syncwarp();
  }
  if (lane == 0) lengths[stream] = at;
}

// AES in counter mode, with one table of 256 words and rotations. tables: the words, then the substitutions.
__global__ void aes_ctr(const uint4* __restrict__ in, const u32* __restrict__ tables, const u32* __restrict__ keys,
                        uint4* __restrict__ out, int n) {
  __shared__ u32 te[256], box[256], key[44];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    te[k] = tables[k];
    box[k] = tables[256 + k];
    if (k < 44) key[k] = keys[k];
  }
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    u32 s[4] = {key[0] ^ 0x01020304u, key[1] ^ 0x05060708u, key[2], key[3] ^ (u32)i}, t[4];
    for (int round = 1; round < 10; round++) {
#pragma unroll
      for (int c = 0; c < 4; c++) {
        const u32 a = te[s[c] >> 24], b = te[s[(c + 1) & 3] >> 16 & 255];
        const u32 d = te[s[(c + 2) & 3] >> 8 & 255], e = te[s[(c + 3) & 3] & 255];
        t[c] = a ^ __funnelshift_r(b, b, 8) ^ __funnelshift_r(d, d, 16) ^ __funnelshift_r(e, e, 24);
      }
#pragma unroll
      for (int c = 0; c < 4; c++) s[c] = t[c] ^ key[4 * round + c];
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      t[c] = key[40 + c] ^ (box[s[c] >> 24] << 24 | box[s[(c + 1) & 3] >> 16 & 255] << 16 |
                            box[s[(c + 2) & 3] >> 8 & 255] << 8 | box[s[(c + 3) & 3] & 255]);
    const uint4 v = in[i];
    out[i] = make_uint4(v.x ^ t[0], v.y ^ t[1], v.z ^ t[2], v.w ^ t[3]);
  }
}

// RC4: a state of 256 bytes per thread, in local memory. The bytes of the stream are packed into words.
__global__ void rc4_keystream(const u32* __restrict__ keys, u32* __restrict__ out, int n, int words) {
  const int i = global_id();
  if (i >= n) return;
  u8 state[256];
  u32 key[4];
#pragma unroll
  for (int k = 0; k < 4; k++) key[k] = keys[k * n + i];
  for (int k = 0; k < 256; k++) state[k] = k;
  int b = 0;
  for (int k = 0; k < 256; k += 16)
#pragma unroll
    for (int j = 0; j < 16; j++) {
      const u8 held = state[k + j];
      b = (b + held + (key[j / 4] >> 8 * (j % 4))) & 255;
      state[k + j] = state[b];
      state[b] = held;
    }
  int a = 0;
  b = 0;
  for (int w = 0; w < words; w++) {
    u32 word = 0;
    for (int j = 0; j < 32; j += 8) {
      a = (a + 1) & 255;
      const u8 held = state[a];
      b = (b + held) & 255;
      const u8 other = state[b];
      state[a] = other;
      state[b] = held;
      word |= (u32)state[(held + other) & 255] << j;
    }
    out[(size_t)w * n + i] = word;
  }
}

// MD5 of 16 bytes, again and again: what a password's key is stretched with.
__device__ constexpr u32 md5_sines[64] = {
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u,
    0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u,
    0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u,
    0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au,
    0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u,
    0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u,
    0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u};
__device__ constexpr int md5_turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
__global__ void md5_chains(const uint4* __restrict__ in, uint4* __restrict__ out, int n, int times) {
  const int i = global_id();
  if (i >= n) return;
  const uint4 first = in[i];
  u32 m[16] = {first.x, first.y, first.z, first.w, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 0};
#pragma unroll 1
  for (int k = 0; k < times; k++) {
    u32 a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
#pragma unroll
    for (int s = 0; s < 64; s++) {
      const int round = s / 16;
      const u32 f = round == 0 ? (b & c) | (~b & d) : round == 1 ? (b & d) | (c & ~d) : round == 2 ? b ^ c ^ d
                                                                                                   : c ^ (b | ~d);
      const int word = round == 0 ? s : round == 1 ? (5 * s + 1) & 15 : round == 2 ? (3 * s + 5) & 15 : (7 * s) & 15;
      const u32 sum = a + f + md5_sines[s] + m[word];
      a = d;
      d = c;
      c = b;
      b += __funnelshift_l(sum, sum, md5_turns[4 * round + s % 4]);
    }
    m[0] = a + 0x67452301u;
    m[1] = b + 0xefcdab89u;
    m[2] = c + 0x98badcfeu;
    m[3] = d + 0x10325476u;
  }
  out[i] = make_uint4(m[0], m[1], m[2], m[3]);
}

// ------------------------------------------------------------------------------------------------------------ strings

// Whole numbers as text, to the right in twelve letters.
__global__ void write_decimals(const int* __restrict__ numbers, u32* __restrict__ text, int n) {
  const int i = global_id();
  if (i >= n) return;
  const int number = numbers[i];
  u32 rest = number < 0 ? -(u32)number : number, words[3] = {0x20202020u, 0x20202020u, 0x20202020u};
  int at = 11;
  do {
    const u32 letter = (u32)('0' ^ ' ') ^ rest % 10;
#pragma unroll
    for (int w = 0; w < 3; w++)
      if (at / 4 == w) words[w] ^= letter << 8 * (at % 4);
    rest /= 10;
    at--;
  } while (rest);
#pragma unroll
  for (int w = 0; w < 3; w++) {
    if (number < 0 && at / 4 == w) words[w] ^= (u32)('-' ^ ' ') << 8 * (at % 4);
    text[3 * (size_t)i + w] = words[w];
  }
}

// A warp per string: the chosen strings into slots of the same width, with zeros behind them.
__global__ void gather_strings(const int* __restrict__ starts, const u8* __restrict__ letters,
                               const int* __restrict__ chosen, u8* __restrict__ out, int n, int width) {
  const int i = global_id() / 32, lane = threadIdx.x % 32;
  if (i >= n) return;
  const int which = chosen[i], begin = starts[which], length = starts[which + 1] - begin;
  for (int k = lane; k < width; k += 32) out[(size_t)i * width + k] = k < length ? letters[begin + k] : 0;
}

// How deep each letter of a document stands in brackets (0 opens, 1 closes), and the lowest depth: a block each.
__global__ void bracket_depths(const u8* __restrict__ text, short* __restrict__ depths, int* __restrict__ lowest,
                               int length) {
  __shared__ int totals[32], least;
  const int t = threadIdx.x, lane = t % 32, warps = blockDim.x / 32;
  const size_t first = (size_t)blockIdx.x * length;
  if (t == 0) least = 0;
  int before = 0, mine = 0;
  for (int base = 0; base < length; base += blockDim.x) {
    const int k = base + t, letter = k < length ? text[first + k] : 2;
    const u32 upto = FULL >> (31 - lane);
    const u32 opened = __ballot_sync(FULL, letter == 0), closed = __ballot_sync(FULL, letter == 1);
    if (lane == 0) totals[t / 32] = __popc(opened) - __popc(closed);
    __syncthreads();
    int depth = before + __popc(opened & upto) - __popc(closed & upto);
    for (int w = 0; w < warps; w++) {
      const int total = totals[w];
      before += total;
      if (w < t / 32) depth += total;
    }
    if (k < length) depths[first + k] = depth;
    mine = min(mine, depth);
    __syncthreads();
  }
  mine = __reduce_min_sync(FULL, mine);
  if (lane == 0) atomicMin(&least, mine);
  __syncthreads();
  if (t == 0) lowest[blockIdx.x] = least;
}

// Which symbols a grammar of 32 symbols derives a sentence from: all spans, the short ones first. A block per sentence.
__global__ void cyk_bits(const u8* __restrict__ words, const u32* __restrict__ lexicon, const u32* __restrict__ rules,
                         u32* __restrict__ out, int length, int count) {
  extern __shared__ u32 spans[];
  u32* grammar = spans + length * length;
  for (int k = threadIdx.x; k < count; k += blockDim.x) grammar[k] = rules[k];
  for (int k = threadIdx.x; k < length * length; k += blockDim.x) {
    const int from = k / length, to = k % length;
    spans[k] = from == to ? lexicon[words[blockIdx.x * length + from]] : 0;
  }
  __syncthreads();
  for (int wide = 1; wide < length; wide++) {
    for (int k = threadIdx.x; k < (length - wide) * wide; k += blockDim.x) {
      const int from = k / wide, middle = from + k % wide, to = from + wide;
      const u32 left = spans[from * length + middle], right = spans[(middle + 1) * length + to];
      u32 found = 0;
      for (int r = 0; left && right && r < count; r++) {
        const u32 rule = grammar[r];
        found |= (left >> (rule & 31) & right >> (rule >> 8 & 31) & 1) << (rule >> 16 & 31);
      }
      if (found) atomicOr(&spans[from * length + to], found);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = spans[length - 1];
}

// ------------------------------------------------------------------------------------------------------------- graphs

// Walks at random along the edges of a graph; a node without edges leads anywhere.
__global__ void graph_walks(const int* __restrict__ starts, const int* __restrict__ members, int* __restrict__ ends,
                            int walks, int nodes, int steps, u32 seed) {
  const int i = global_id();
  if (i >= walks) return;
  u32 state = mixed(i ^ seed);
  int node = state % nodes;
  for (int k = 0; k < steps; k++) {
    state = state * 747796405u + 2891336453u;
    const int begin = starts[node], degree = starts[node + 1] - begin;
    node = degree ? members[begin + (state >> 8) % degree] : (state >> 8) % nodes;
  }
  ends[i] = node;
}

// A step of a search in breadth that starts from the nodes without a parent: has one of the neighbours been reached?
__global__ void bottom_up_bfs(const int* __restrict__ starts, const int* __restrict__ members,
                              const u32* __restrict__ frontier, const u32* __restrict__ visited, u32* next,
                              int* __restrict__ parents, int nodes) {
  const int v = global_id();
  if (v >= nodes || visited[v / 32] >> v % 32 & 1) return;
  for (int e = starts[v]; e < starts[v + 1]; e++) {
    const int neighbour = members[e];
    if (frontier[neighbour / 32] >> neighbour % 32 & 1) {
      parents[v] = neighbour + 1;
      atomicOr(next + v / 32, 1u << v % 32);
      break;
    }
  }
}

// How far each element of a list is from its end: each pointer jumps over the next one. A block per list.
__global__ void rank_list(const int* __restrict__ next, int* __restrict__ ranks) {
  __shared__ int target[1024], rank[1024];
  const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
  target[t] = next[first + t];
  rank[t] = target[t] >= 0;
  __syncthreads();
  for (int step = 1; step < (int)blockDim.x; step *= 2) {
    const int to = target[t];
    int further = 0, beyond = -1;
    if (to >= 0) {
      further = rank[to];
      beyond = target[to];
    }
    __syncthreads();
    rank[t] += further;
    target[t] = beyond;
    __syncthreads();
  }
  ranks[first + t] = rank[t];
}

// Which nodes can be reached from which: Warshall's closure, a bit per pair. A block per graph, a thread per node.
__global__ void warshall_bits(const u32* __restrict__ edges, u32* __restrict__ reached) {
  extern __shared__ u32 rows[];
  const int t = threadIdx.x, n = blockDim.x, words = n / 32, pitch = words + 1;
  const size_t first = (size_t)blockIdx.x * n * words;
  for (int k = t; k < n * words; k += n) rows[k / words * pitch + k % words] = edges[first + k];
  __syncthreads();
  u32* mine = rows + t * pitch;
  for (int k = 0; k < n; k++) {
    if (t != k && mine[k / 32] >> k % 32 & 1)
      for (int w = 0; w < words; w++) mine[w] |= rows[k * pitch + w];
    __syncthreads();
  }
  for (int k = t; k < n * words; k += n) reached[first + k] = rows[k / words * pitch + k % words];
}

// Stable matches: whoever is free proposes to the next one of a list, who keeps the best proposal. A block per town.
__global__ void stable_matches(const int* __restrict__ wishes, const int* __restrict__ ranks, int* __restrict__ found) {
  extern __shared__ u32 held[];
  const int n = blockDim.x, t = threadIdx.x;
  const int* list = wishes + ((size_t)blockIdx.x * n + t) * n;
  const int* rank = ranks + (size_t)blockIdx.x * n * n;
  held[t] = FULL;
  __syncthreads();
  int asked = 0, who = list[0], free = 1;
  do {
    if (free) atomicMin(&held[who], (u32)rank[(size_t)who * n + t] << 16 | t);
    __syncthreads();
    free = (held[who] & 0xffff) != t;
    if (free) who = list[++asked];
  } while (__syncthreads_or(free));
  found[blockIdx.x * n + t] = who;
}

// ----------------------------------------------------------------------------------------------------------- database

// A join of two parts of tables: the block builds a table of keys in shared memory, then looks up the other keys.
__global__ void join_shared(const u32* __restrict__ build, const u32* __restrict__ values,
                            const u32* __restrict__ probe, u32* __restrict__ sums, int built, int probed,
                            int capacity) {
  extern __shared__ u32 table[];
  u32* payload = table + capacity;
  for (int k = threadIdx.x; k < capacity; k += blockDim.x) table[k] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < built; k += blockDim.x) {
    const u32 key = build[(size_t)blockIdx.x * built + k];
    u32 slot = mixed(key) & (capacity - 1);
    while (atomicCAS(table + slot, 0u, key) != 0) slot = (slot + 1) & (capacity - 1);
    payload[slot] = values[(size_t)blockIdx.x * built + k];
  }
  __syncthreads();
  u32 sum = 0;
  for (int k = threadIdx.x; k < probed; k += blockDim.x) {
    const u32 key = probe[(size_t)blockIdx.x * probed + k] + 1;
    u32 slot = mixed(key) & (capacity - 1);
    while (table[slot] != 0 && table[slot] != key) slot = (slot + 1) & (capacity - 1);
    if (table[slot] == key) sum += payload[slot];
  }
  sum = __reduce_add_sync(FULL, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(sums + blockIdx.x, sum);
}

// A sketch of how many different keys there are: the greatest number of leading zeros per register.
template <int BITS>
__global__ void hyperloglog(const u32* __restrict__ keys, int* registers, int n) {
  __shared__ int mine[1 << BITS];
  for (int k = threadIdx.x; k < 1 << BITS; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const u32 h = mixed(keys[i]);
    atomicMax(mine + (h >> (32 - BITS)), __clz(h << BITS | 1u << (BITS - 1)) + 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 1 << BITS; k += blockDim.x)
    if (mine[k]) atomicMax(registers + k, mine[k]);
}

// A sketch of how often each key comes: four rows of counters, with a hash function each.
__global__ void count_min_sketch(const u32* __restrict__ keys, u32* counters, int n, u32 mask) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const u32 key = keys[i];
#pragma unroll
    for (u32 row = 0; row < 4; row++) atomicAdd(counters + row * (mask + 1) + (mixed(key + 77 * row) & mask), 1u);
  }
}

// Frames of 32 numbers in as many bits as their range needs: a word per bit, a warp per frame.
__global__ void pack_frames(const int* __restrict__ in, int2* __restrict__ heads, u32* __restrict__ planes,
                            int frames) {
  const int lane = threadIdx.x % 32;
  for (int frame = global_id() / 32; frame < frames; frame += gridDim.x * blockDim.x / 32) {
    const int v = in[frame * 32 + lane], least = __reduce_min_sync(FULL, v);
    const u32 above = v - least;
    const int bits = 32 - __clz(__reduce_or_sync(FULL, above));
    u32 mine = 0;
    for (int b = 0; b < bits; b++) {
      const u32 plane = __ballot_sync(FULL, above >> b & 1);
      if (lane == b) mine = plane;
    }
    if (lane < bits) planes[frame * 32 + lane] = mine;
    if (lane == 0) heads[frame] = make_int2(least, bits);
  }
}

// Tables of 32 x 32 bits with rows and columns exchanged: a vote per column.
__global__ void transpose_bits(const u32* __restrict__ in, u32* __restrict__ out, int words) {
  const int lane = threadIdx.x % 32;
  for (int i = global_id(); i < words; i += gridDim.x * blockDim.x) {
    const u32 word = in[i];
    u32 column = 0;
#pragma unroll
    for (int b = 0; b < 32; b++) {
      const u32 votes = __ballot_sync(FULL, word >> b & 1);
      if (lane == b) column = votes;
    }
    out[i] = column;
  }
}

// Signatures of documents: for each hash function, a thread each, the least hash of the document's words.
__global__ void minhash_rows(const int* __restrict__ starts, const u32* __restrict__ words, u32* __restrict__ out) {
  const u32 factor = mixed(threadIdx.x) | 1, offset = mixed(threadIdx.x + 4096);
  u32 least = FULL;
  for (int k = starts[blockIdx.x], end = starts[blockIdx.x + 1]; k < end; k++) {
    u32 h = factor * words[k] + offset;
    h ^= h >> 15;
    least = min(least, h * 0x2c1b3c6du);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = least;
}

// ------------------------------------------------------------------------------------------------------------- images

// Colours as hue (six sectors of 42), saturation and value, all of them bytes.
__global__ void rgb_to_hsv(const uchar4* __restrict__ in, uchar4* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  const uchar4 p = in[i];
  const int r = p.x, g = p.y, b = p.z, most = max(r, max(g, b)), range = most - min(r, min(g, b));
  int hue = 0;
  if (range > 0) {
    if (most == r)
      hue = (42 * (g - b) + 252 * range) / range % 252;
    else if (most == g)
      hue = 84 + 42 * (b - r) / range;
    else
      hue = 168 + 42 * (r - g) / range;
  }
  out[i] = make_uchar4(hue, most ? 255 * range / most : 0, most, p.w);
}

// Local binary patterns: which of the eight neighbours are brighter, counted per cell of 16 x 16 pixels.
__global__ void lbp_cells(const u8* __restrict__ picture, u32* __restrict__ counts, int width) {
  __shared__ u8 tile[18][20];
  __shared__ u32 bins[256];
  const int t = threadIdx.y * 16 + threadIdx.x, height = gridDim.y * 16;
  const int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
  bins[t] = 0;
  for (int k = t; k < 18 * 18; k += 256) {
    const int x = min(max(x0 + k % 18, 0), width - 1), y = min(max(y0 + k / 18, 0), height - 1);
    tile[k / 18][k % 18] = picture[y * width + x];
  }
  __syncthreads();
  const int x = threadIdx.x + 1, y = threadIdx.y + 1, here = tile[y][x];
  const int code = (tile[y - 1][x - 1] > here) | (tile[y - 1][x] > here) << 1 | (tile[y - 1][x + 1] > here) << 2 |
                   (tile[y][x + 1] > here) << 3 | (tile[y + 1][x + 1] > here) << 4 | (tile[y + 1][x] > here) << 5 |
                   (tile[y + 1][x - 1] > here) << 6 | (tile[y][x - 1] > here) << 7;
  atomicAdd(bins + code, 1u);
  __syncthreads();
  counts[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + t] = bins[t];
}

// Smoothing that stops at edges: Perona and Malik's diffusion, one step.
__global__ void perona_malik(const float* __restrict__ in, float* __restrict__ out, int width, int height, float edge,
                             float rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float here = in[y * width + x];
  const float apart[4] = {in[y * width + max(x - 1, 0)] - here, in[y * width + min(x + 1, width - 1)] - here,
                          in[max(y - 1, 0) * width + x] - here, in[min(y + 1, height - 1) * width + x] - here};
  float flow = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; k++) flow += apart[k] * __expf(-apart[k] * apart[k] * edge);
  out[y * width + x] = here + rate * flow;
}

// A colour from two levels of a pyramid of pictures, four pixels each. A level is half as wide as the one before.
__device__ __forceinline__ float from_level(const float* __restrict__ pyramid, int side, int level, float u, float v) {
  const int own = side >> level, before = (side * side - own * own) / 3 * 4;
  const float x = u * own - 0.5f, y = v * own - 0.5f, bx = floorf(x), by = floorf(y);
  const int left = (int)bx & (own - 1), right = (left + 1) & (own - 1);
  const int top = (int)by & (own - 1), bottom = (top + 1) & (own - 1);
  const float* p = pyramid + before;
  const float upper = p[top * own + left] + (x - bx) * (p[top * own + right] - p[top * own + left]);
  const float lower = p[bottom * own + left] + (x - bx) * (p[bottom * own + right] - p[bottom * own + left]);
  return upper + (y - by) * (lower - upper);
}
__global__ void mip_trilinear(const float* __restrict__ pyramid, const float* __restrict__ places,
                              float* __restrict__ out, int side, int n) {
  const int i = global_id();
  if (i >= n) return;
  const float u = places[i], v = places[n + i], depth = places[2 * n + i];
  const int level = (int)(depth * (30 - __clz(side)));
  const float near = from_level(pyramid, side, level, u, v), far = from_level(pyramid, side, level + 1, u, v);
  const float part = depth * (30 - __clz(side)) - level;
  out[i] = near + part * (far - near);
}

// How far each pixel of the left picture has moved in the right one: words of bits that say what surrounds a pixel.
__global__ void disparities(const u32* __restrict__ left, const u32* __restrict__ right, u8* __restrict__ out,
                            int width, int range) {
  extern __shared__ u32 window[];
  const int x0 = blockIdx.x * blockDim.x, x = x0 + threadIdx.x, wide = blockDim.x + range;
  int rows[3];
#pragma unroll
  for (int r = 0; r < 3; r++) rows[r] = min(max((int)blockIdx.y + r - 1, 0), (int)gridDim.y - 1) * width;
#pragma unroll
  for (int r = 0; r < 3; r++)
    for (int k = threadIdx.x; k < wide; k += blockDim.x)
      window[r * wide + k] = right[rows[r] + min(max(x0 - range + k, 0), width - 1)];
  __syncthreads();
  if (x >= width) return;
  u32 here[3];
#pragma unroll
  for (int r = 0; r < 3; r++) here[r] = left[rows[r] + x];
  int best = 1 << 20, found = 0;
  for (int d = 0; d < range; d++) {
    int cost = 0;
#pragma unroll
    for (int r = 0; r < 3; r++) cost += __popc(here[r] ^ window[r * wide + threadIdx.x + range - d]);
    if (cost < best) {
      best = cost;
      found = d;
    }
  }
  out[blockIdx.y * width + x] = found;
}

// Black and white by diffusion of the error along a line: a thread per line; a word holds 32 pixels.
__global__ void error_diffusion(const u8* __restrict__ in, u32* __restrict__ out, int lines, int words) {
  const int i = global_id();
  if (i >= lines) return;
  int error = 0;
  for (int w = 0; w < words; w++) {
    u32 bits = 0;
    for (int b = 0; b < 32; b++) {
      const int wanted = in[(size_t)(w * 32 + b) * lines + i] + error;
      const int white = wanted > 127;
      bits |= (u32)white << b;
      error = (wanted - 255 * white) * 7 >> 3;
    }
    out[(size_t)w * lines + i] = bits;
  }
}

// JPEG 2000's wavelet by lifting, LEVELS times over a row in shared memory. A block per row of 2 * blockDim.x numbers.
template <int LEVELS>
__global__ void wavelet_53(const int* __restrict__ in, int* __restrict__ out) {
  __shared__ int row[2048];
  const int t = threadIdx.x, n = blockDim.x;
  const size_t first = (size_t)blockIdx.x * 2 * n;
  row[t] = in[first + t];
  row[t + n] = in[first + t + n];
  __syncthreads();
  for (int level = 0, half = n; level < LEVELS; level++, half /= 2) {
    int even = 0, detail = 0;
    if (t < half) {
      even = row[2 * t];
      detail = row[2 * t + 1] - ((even + row[t + 1 < half ? 2 * t + 2 : 2 * t]) >> 1);
    }
    __syncthreads();
    if (t < half) row[half + t] = detail;
    __syncthreads();
    if (t < half) row[t] = even + ((row[half + max(t - 1, 0)] + detail + 2) >> 2);
    __syncthreads();
  }
  out[first + t] = row[t];
  out[first + t + n] = row[t + n];
}

// ------------------------------------------------------------------------------------------------- geometry, graphics

// Distances on the earth in kilometres, and the directions to start in.
__global__ void haversine_pairs(const float4* __restrict__ pairs, float2* __restrict__ out, int n) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const float4 p = pairs[i];  // latitude, longitude, latitude, longitude
    const float north = sinf(0.5f * (p.z - p.x)), east = sinf(0.5f * (p.w - p.y));
    const float c0 = cosf(p.x), c1 = cosf(p.z);
    const float a = north * north + c0 * c1 * east * east;
    const float y = sinf(p.w - p.y) * c1, x = c0 * sinf(p.z) - sinf(p.x) * c1 * cosf(p.w - p.y);
    out[i] = make_float2(12742.0f * asinf(fminf(1.0f, sqrtf(a))), atan2f(y, x));
  }
}

// Turns between two quaternions, at the same speed all the way.
__global__ void slerp_poses(const float4* __restrict__ from, const float4* __restrict__ to,
                            const float* __restrict__ when, float4* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  const float4 a = from[i];
  float4 b = to[i];
  const float la = rsqrtf(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w);
  float lb = rsqrtf(b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w);
  float along = (a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) * la * lb;
  if (along < 0.0f) {
    along = -along;
    lb = -lb;
  }
  const float t = when[i];
  float u = 1.0f - t, v = t;
  if (along < 0.9995f) {
    const float angle = acosf(along), whole = 1.0f / sinf(angle);
    u = sinf(u * angle) * whole;
    v = sinf(v * angle) * whole;
  }
  u *= la;
  v *= lb;
  out[i] = make_float4(u * a.x + v * b.x, u * a.y + v * b.y, u * a.z + v * b.z, u * a.w + v * b.w);
}

// Vertices of a body that follow four bones each: the weighted sum of four matrices of 3 x 4.
__global__ void skin_vertices(const float* __restrict__ rest, const uchar4* __restrict__ bones,
                              const float4* __restrict__ weights, const float4* __restrict__ matrices,
                              float* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  const float x = rest[i], y = rest[n + i], z = rest[2 * n + i];
  const uchar4 bone = bones[i];
  const float4 weight = weights[i];
  const int which[4] = {bone.x, bone.y, bone.z, bone.w};
  const float share[4] = {weight.x, weight.y, weight.z, weight.w};
  float sum[3] = {};
#pragma unroll
  for (int b = 0; b < 4; b++)
#pragma unroll
    for (int r = 0; r < 3; r++) {
      const float4 m = matrices[3 * which[b] + r];
      sum[r] += share[b] * (m.x * x + m.y * y + m.z * z + m.w);
    }
#pragma unroll
  for (int r = 0; r < 3; r++) out[r * n + i] = sum[r];
}

// ------------------------------------------------------------------------------------------------------------ signals

// A phase-locked loop per channel.
__global__ void pll_track(const float* __restrict__ signal, float2* __restrict__ out, int channels, int length,
                          float alpha, float beta) {
  const int c = global_id();
  if (c >= channels) return;
  float phase = 0.0f, speed = 0.1f;
  for (int t = 0; t < length; t++) {
    const float error = signal[(size_t)t * channels + c] * __cosf(phase);
    speed += beta * error;
    phase += speed + alpha * error;
    if (phase > 3.14159265f) phase -= 6.2831853f;
  }
  out[c] = make_float2(phase, speed);
}

// How alike a frame is to itself some steps later: a block per frame, a thread per lag.
__global__ void autocorrelations(const float* __restrict__ frames, float* __restrict__ out, int length) {
  extern __shared__ float frame[];
  for (int k = threadIdx.x; k < length; k += blockDim.x) frame[k] = frames[(size_t)blockIdx.x * length + k];
  __syncthreads();
  const int lag = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k + lag < length; k++) sum += frame[k] * frame[k + lag];
  out[blockIdx.x * blockDim.x + lag] = sum;
}

// Levinson and Durbin's recursion: a warp per frame, a coefficient per lane.
__global__ void levinson(const float* __restrict__ correlations, float* __restrict__ out, int frames, int order) {
  const int frame = global_id() / 32, lane = threadIdx.x % 32;
  if (frame >= frames) return;
  const float r = correlations[frame * 32 + lane];
  float a = lane == 0, error = __shfl_sync(FULL, r, 0);
  for (int m = 1; m <= order; m++) {
    const float behind = __shfl_sync(FULL, r, (m - lane) & 31);
    const float k = -over_warp(lane < m ? a * behind : 0.0f) / error;
    const float other = __shfl_sync(FULL, a, (m - lane) & 31);
    if (lane > 0 && lane <= m) a += k * (lane < m ? other : 1.0f);
    error *= 1.0f - k * k;
  }
  out[frame * 32 + lane] = a;
}

// The power in some directions of a field of microphones: a thread per direction, eight samples per block.
__global__ void beamformer(const float2* __restrict__ weights, const float2* __restrict__ samples,
                           float* __restrict__ power, int microphones, int length) {
  extern __shared__ float2 heard[];
  const int beams = blockDim.x, beam = threadIdx.x, t0 = blockIdx.x * 8;
  for (int k = beam; k < 8 * microphones; k += beams) {
    const int t = t0 + k % 8;
    heard[k] = t < length ? samples[(size_t)(k / 8) * length + t] : make_float2(0.0f, 0.0f);
  }
  __syncthreads();
  float real[8] = {}, imaginary[8] = {};
  for (int m = 0; m < microphones; m++) {
    const float2 w = weights[m * beams + beam];
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const float2 x = heard[8 * m + k];
      real[k] += w.x * x.x - w.y * x.y;
      imaginary[k] += w.x * x.y + w.y * x.x;
    }
  }
#pragma unroll
  for (int k = 0; k < 8; k++)
    if (t0 + k < length) power[(size_t)(t0 + k) * beams + beam] = real[k] * real[k] + imaginary[k] * imaginary[k];
}

// Rows of y[t] = a[t] * y[t - 1] + b[t]: a scan of linear functions, ITEMS per thread. A block per row.
template <int ITEMS>
__global__ void affine_scan(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y,
                            int length) {
  __shared__ float factors[32], offsets[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;
  const size_t first = (size_t)blockIdx.x * length;
  float carry = 0.0f;
  for (int base = 0; base < length; base += ITEMS * blockDim.x) {
    const int begin = base + ITEMS * t;
    float own_a[ITEMS], own_b[ITEMS], factor = 1.0f, offset = 0.0f;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
      own_a[k] = begin + k < length ? a[first + begin + k] : 1.0f;
      own_b[k] = begin + k < length ? b[first + begin + k] : 0.0f;
      factor *= own_a[k];
      offset = own_a[k] * offset + own_b[k];
    }
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const float before_a = __shfl_up_sync(FULL, factor, d), before_b = __shfl_up_sync(FULL, offset, d);
      if (lane >= d) {
        offset += factor * before_b;
        factor *= before_a;
      }
    }
    if (lane == 31) {
      factors[warp] = factor;
      offsets[warp] = offset;
    }
    __syncthreads();
    float value = carry;
    for (int w = 0; w < warps; w++) {
      if (w == warp) value = carry;
      carry = factors[w] * carry + offsets[w];
    }
    const float left_a = __shfl_up_sync(FULL, factor, 1), left_b = __shfl_up_sync(FULL, offset, 1);
    if (lane > 0) value = left_a * value + left_b;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
      value = own_a[k] * value + own_b[k];
      if (begin + k < length) y[first + begin + k] = value;
    }
    __syncthreads();
  }
}

// --------------------------------------------------------------------------------------------------- machine learning

// A small network per thread: four inputs, two layers of WIDTH, one output; the weights lie in shared memory.
template <int WIDTH>
__global__ void tiny_mlp(const float4* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out,
                         int n) {
  constexpr int SECOND = 5 * WIDTH, THIRD = SECOND + WIDTH * (WIDTH + 1), COUNT = THIRD + WIDTH + 1;
  __shared__ float w[COUNT];
  for (int k = threadIdx.x; k < COUNT; k += blockDim.x) w[k] = weights[k];
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const float4 x = in[i];
    float hidden[WIDTH];
#pragma unroll
    for (int h = 0; h < WIDTH; h++) {
      const float* row = w + 5 * h;
      hidden[h] = fmaxf(row[0] * x.x + row[1] * x.y + row[2] * x.z + row[3] * x.w + row[4], 0.0f);
    }
    float sum = w[COUNT - 1];
#pragma unroll 4
    for (int h = 0; h < WIDTH; h++) {
      const float* row = w + SECOND + (WIDTH + 1) * h;
      float value = row[WIDTH];
#pragma unroll
      for (int k = 0; k < WIDTH; k++) value += row[k] * hidden[k];
      sum += w[THIRD + h] * fmaxf(value, 0.0f);
    }
    out[i] = sum;
  }
}

// A step of RMSprop, four weights per thread.
__global__ void rmsprop_step(float4* weights, float4* squares, const float4* __restrict__ gradients, int n, float rate,
                             float decay) {
  const int i = global_id();
  if (i >= n) return;
  const float4 g = gradients[i];
  float4 w = weights[i], s = squares[i];
  s.x = decay * s.x + (1 - decay) * g.x * g.x;
  s.y = decay * s.y + (1 - decay) * g.y * g.y;
  s.z = decay * s.z + (1 - decay) * g.z * g.z;
  s.w = decay * s.w + (1 - decay) * g.w * g.w;
  w.x -= rate * g.x / (sqrtf(s.x) + 1e-6f);
  w.y -= rate * g.y / (sqrtf(s.y) + 1e-6f);
  w.z -= rate * g.z / (sqrtf(s.z) + 1e-6f);
  w.w -= rate * g.w / (sqrtf(s.w) + 1e-6f);
  squares[i] = s;
  weights[i] = w;
}

// Kalman's filter per thread: place and speed in a plane, from measured places.
__global__ void kalman_4(const float2* __restrict__ measured, float4* __restrict__ out, int tracks, int steps,
                         float process, float noise) {
  const int i = global_id();
  if (i >= tracks) return;
  float x[4] = {}, p[4][4] = {};
#pragma unroll
  for (int k = 0; k < 4; k++) p[k][k] = 10.0f;
#pragma unroll 1
  for (int t = 0; t < steps; t++) {
    const float2 seen = measured[(size_t)t * tracks + i];
    x[0] += x[2];
    x[1] += x[3];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      p[0][k] += p[2][k];
      p[1][k] += p[3][k];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      p[k][0] += p[k][2];
      p[k][1] += p[k][3];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) p[k][k] += process;
    const float s00 = p[0][0] + noise, s11 = p[1][1] + noise, s01 = p[0][1], s10 = p[1][0];
    const float scale = 1.0f / (s00 * s11 - s01 * s10);
    float gain[4][2];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      gain[k][0] = (p[k][0] * s11 - p[k][1] * s10) * scale;
      gain[k][1] = (p[k][1] * s00 - p[k][0] * s01) * scale;
    }
    const float dx = seen.x - x[0], dy = seen.y - x[1];
#pragma unroll
    for (int k = 0; k < 4; k++) x[k] += gain[k][0] * dx + gain[k][1] * dy;
    float next[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
      for (int c = 0; c < 4; c++) next[r][c] = p[r][c] - gain[r][0] * p[0][c] - gain[r][1] * p[1][c];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
      for (int c = 0; c < 4; c++) p[r][c] = next[r][c];
  }
  out[i] = make_float4(x[0], x[1], x[2], x[3]);
}

// A forest of decision trees as code: each node compares one of eight numbers, each leaf gives a number.
__device__ constexpr u32 node_hash(u32 h) {
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  return h ^ h >> 16;
}
template <int DEPTH, u32 NODE>
__device__ __forceinline__ float leaf_of(const float (&x)[8]) {
  constexpr u32 h = node_hash(NODE);
  if constexpr (DEPTH == 0) {
    return (h >> 16) * 1.52587890625e-5f;
  } else {
    if (x[h & 7] < (h >> 16) * 1.52587890625e-5f) return leaf_of<DEPTH - 1, 2 * NODE>(x);
    return leaf_of<DEPTH - 1, 2 * NODE + 1>(x);
  }
}
template <int TREES, int DEPTH>
__device__ __forceinline__ float leaves_of(const float (&x)[8]) {
  if constexpr (TREES == 0)
    return 0.0f;
  else
    return leaves_of<TREES - 1, DEPTH>(x) + leaf_of<DEPTH, ((u32)TREES << DEPTH)>(x);
}
template <int TREES, int DEPTH>
__global__ void compiled_forest(const float* __restrict__ rows, float* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  float x[8];
#pragma unroll
  for (int k = 0; k < 8; k++) x[k] = rows[k * n + i];
  out[i] = leaves_of<TREES, DEPTH>(x);
}

// ------------------------------------------------------------------------------------------------- chemistry, physics

// Rates of REACTIONS of two of eight species into a third one, each by Arrhenius' law with constants in the code.
template <int REACTIONS>
__global__ void arrhenius_rates(const float* __restrict__ temperatures, const float* __restrict__ species,
                                float* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  const float t = temperatures[i], inverse = 1.0f / t, logarithm = __logf(t);
  float y[8], change[8] = {};
#pragma unroll
  for (int k = 0; k < 8; k++) y[k] = species[k * n + i];
#pragma unroll
  for (int r = 0; r < REACTIONS; r++) {
    const u32 h = node_hash(r + 1);
    const float rate = __expf((h >> 27) * 0.1f + (h >> 24 & 7) * 0.05f * logarithm - (h >> 16 & 255) * 4.0f * inverse);
    const float flow = rate * y[h & 7] * y[h >> 3 & 7];
    change[h & 7] -= flow;
    change[h >> 3 & 7] -= flow;
    change[h >> 6 & 7] += 2 * flow;
  }
#pragma unroll
  for (int k = 0; k < 8; k++) out[k * n + i] = change[k];
}

// What a crystal's atoms scatter: a thread per direction, the atoms through shared memory.
__global__ void structure_factors(const float4* __restrict__ directions, const float4* __restrict__ atoms,
                                  float2* __restrict__ out, int n, int count) {
  __shared__ float4 some[64];
  const int i = global_id();
  const float4 k = i < n ? directions[i] : make_float4(0, 0, 0, 0);
  float real = 0.0f, imaginary = 0.0f;
  for (int first = 0; first < count; first += 64) {
    const int here = min(64, count - first);
    __syncthreads();
    for (int j = threadIdx.x; j < here; j += blockDim.x) some[j] = atoms[first + j];
    __syncthreads();
    for (int j = 0; j < here; j++) {
      const float4 a = some[j];
      float s, c;
      __sincosf(k.x * a.x + k.y * a.y + k.z * a.z, &s, &c);
      real += a.w * c;
      imaginary += a.w * s;
    }
  }
  if (i < n) out[i] = make_float2(real, imaginary);
}

// The first particle in each cell of a grid and the next one after each particle: 1 more than its number, or 0.
__global__ void link_cells(const float2* __restrict__ points, int* heads, int* __restrict__ next, int n, int side) {
  const int i = global_id();
  if (i >= n) return;
  const float2 p = points[i];
  const int cell = min((int)(p.y * side), side - 1) * side + min((int)(p.x * side), side - 1);
  next[i] = atomicExch(heads + cell, i + 1);
}

// Reaction and diffusion of two substances: STEPS steps on a tile of 32 x 32 in shared memory, blocks of 32 x 8.
template <int STEPS>
__global__ void gray_scott_tiles(const float* __restrict__ u, const float* __restrict__ v, float* __restrict__ new_u,
                                 float* __restrict__ new_v, int width, int height) {
  __shared__ float a[2][32][32], b[2][32][32];
  constexpr int CORE = 32 - 2 * STEPS;
  const int x = threadIdx.x, gx = (blockIdx.x * CORE + x - STEPS + width) % width;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int at = (blockIdx.y * CORE + y - STEPS + height) % height * width + gx;
    a[0][y][x] = u[at];
    b[0][y][x] = v[at];
  }
  __syncthreads();
  for (int step = 1; step <= STEPS; step++) {
    const int from = (step - 1) & 1, to = step & 1;
    for (int y = threadIdx.y; y < 32; y += 8) {
      if (min(x, y) < step || max(x, y) >= 32 - step) continue;
      const float p = a[from][y][x], q = b[from][y][x], both = p * q * q;
      const float around_p = a[from][y][x - 1] + a[from][y][x + 1] + a[from][y - 1][x] + a[from][y + 1][x] - 4 * p;
      const float around_q = b[from][y][x - 1] + b[from][y][x + 1] + b[from][y - 1][x] + b[from][y + 1][x] - 4 * q;
      a[to][y][x] = p + 0.16f * around_p - both + 0.035f * (1 - p);
      b[to][y][x] = q + 0.08f * around_q + both - 0.095f * q;
    }
    __syncthreads();
  }
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int px = blockIdx.x * CORE + x - STEPS, py = blockIdx.y * CORE + y - STEPS;
    if (min(x, y) < STEPS || max(x, y) >= 32 - STEPS || px >= width || py >= height) continue;
    new_u[py * width + px] = a[STEPS & 1][y][x];
    new_v[py * width + px] = b[STEPS & 1][y][x];
  }
}

// The biharmonic operator in a plane, from 13 points; two lines at each edge stay as they are.
__global__ void biharmonic_13(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 2, y = blockIdx.y * blockDim.y + threadIdx.y + 2;
  if (x >= width - 2 || y >= height - 2) return;
  const float* p = in + y * width + x;
  const float straight = p[-1] + p[1] + p[-width] + p[width];
  const float oblique = p[-width - 1] + p[-width + 1] + p[width - 1] + p[width + 1];
  const float distant = p[-2] + p[2] + p[-2 * width] + p[2 * width];
  out[y * width + x] = 20.0f * p[0] - 8.0f * straight + 2.0f * oblique + distant;
}

// Waves in shallow water by Lax and Friedrichs: height, and its products with two speeds, one after the other.
__device__ __forceinline__ float3 along_x(float h, float hu, float hv) {
  const float u = hu / h;
  return make_float3(hu, hu * u + 4.905f * h * h, hv * u);
}
__global__ void shallow_water(const float* __restrict__ q, float* __restrict__ out, int width, int height,
                              float ratio) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = width * height;
  if (x >= width || y >= height) return;
  const int west = y * width + max(x - 1, 0), east = y * width + min(x + 1, width - 1);
  const int north = max(y - 1, 0) * width + x, south = min(y + 1, height - 1) * width + x;
  const float3 fw = along_x(q[west], q[n + west], q[2 * n + west]);
  const float3 fe = along_x(q[east], q[n + east], q[2 * n + east]);
  const float3 fn = along_x(q[north], q[2 * n + north], q[n + north]);
  const float3 fs = along_x(q[south], q[2 * n + south], q[n + south]);
  const int at = y * width + x;
  const float mean_h = q[west] + q[east] + q[north] + q[south];
  const float mean_u = q[n + west] + q[n + east] + q[n + north] + q[n + south];
  const float mean_v = q[2 * n + west] + q[2 * n + east] + q[2 * n + north] + q[2 * n + south];
  out[at] = 0.25f * mean_h - ratio * (fe.x - fw.x + fs.x - fn.x);
  out[n + at] = 0.25f * mean_u - ratio * (fe.y - fw.y + fs.z - fn.z);
  out[2 * n + at] = 0.25f * mean_v - ratio * (fe.z - fw.z + fs.y - fn.y);
}

// A string that swings between fixed ends, a point per thread, a barrier per step. A block per string.
__global__ void string_waves(const float* __restrict__ start, float* __restrict__ out, int steps, float courant) {
  __shared__ float line[2][1024];
  const int t = threadIdx.x, last = blockDim.x - 1;
  float now = start[blockIdx.x * blockDim.x + t], before = now;
  line[0][t] = now;
  __syncthreads();
  for (int k = 0; k < steps; k++) {
    const float* from = line[k & 1];
    float next = 0.0f;
    if (t > 0 && t < last) next = 2 * now - before + courant * (from[t - 1] - 2 * now + from[t + 1]);
    before = now;
    now = next;
    line[1 - (k & 1)][t] = now;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = now;
}

// Three bodies in a plane, in double precision: first the speeds move on, then the places. Near bodies pull less.
__global__ void three_bodies(const double2* __restrict__ start, double2* __restrict__ out, int n, int steps,
                             double step) {
  const int i = global_id();
  if (i >= n) return;
  double2 p[3], v[3], a[3];
#pragma unroll
  for (int k = 0; k < 3; k++) {
    p[k] = start[k * n + i];
    v[k] = make_double2(0.0, 0.0);
  }
  for (int s = 0; s < steps; s++) {
#pragma unroll
    for (int k = 0; k < 3; k++) a[k] = make_double2(0.0, 0.0);
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const int j = (k + 1) % 3;
      const double dx = p[j].x - p[k].x, dy = p[j].y - p[k].y, squared = dx * dx + dy * dy + 0.25;
      const double pull = 1.0 / (squared * sqrt(squared));
      a[k].x += pull * dx;
      a[k].y += pull * dy;
      a[j].x -= pull * dx;
      a[j].y -= pull * dy;
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
      v[k].x += step * a[k].x;
      v[k].y += step * a[k].y;
      p[k].x += step * v[k].x;
      p[k].y += step * v[k].y;
    }
  }
#pragma unroll
  for (int k = 0; k < 3; k++) out[k * n + i] = p[k];
}

// ----------------------------------------------------------------------------------------------------------- numerics

// Integrals of powers from 0 to 1 in double precision: points that crowd at the ends.
__global__ void tanh_sinh(const double* __restrict__ powers, double* __restrict__ out, int n, int points) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const double power = powers[i], step = 3.2 / points;
    double sum = 0.0;
    for (int k = -points; k <= points; k++) {
      const double t = step * k, stretched = exp(3.14159265358979323846 * sinh(t));
      const double x = stretched / (1.0 + stretched), rest = 1.0 / (1.0 + stretched);
      sum += cosh(t) * x * rest * pow(x, power);
    }
    out[i] = 3.14159265358979323846 * step * sum;
  }
}

// The greatest real root of x^3 + a x^2 + b x + c in double precision: by an angle if there are three, else by roots.
__global__ void cubic_roots(const double* __restrict__ coefficients, double* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  const double a = coefficients[i], b = coefficients[n + i], c = coefficients[2 * n + i];
  const double p = b - a * a / 3, half = (2 * a * a * a / 27 - a * b / 3 + c) / 2;
  const double inside = half * half + p * p * p / 27;
  double t;
  if (inside > 0) {
    const double root = sqrt(inside);
    t = cbrt(root - half) - cbrt(root + half);
  } else {
    const double radius = sqrt(-p / 3);
    t = 2 * radius * cos(acos(fmin(1.0, fmax(-1.0, -half / (radius * radius * radius)))) / 3);
  }
  out[i] = t - a / 3;
}

// The area under a peak by Simpson's rule: what is not exact enough is divided; a stack per thread in local memory.
__device__ __forceinline__ float peak(float x, float centre, float width) {
  const float apart = x - centre;
  return __fdividef(1.0f, apart * apart + width * width);
}
__global__ void adaptive_simpson(const float* __restrict__ centres, const float* __restrict__ widths,
                                 float* __restrict__ out, int n, float tolerance) {
  const int i = global_id();
  if (i >= n) return;
  const float centre = centres[i], width = 0.02f + widths[i];
  float begins[24], lengths[24], sum = 0.0f;
  int depth = 1;
  begins[0] = 0.0f;
  lengths[0] = 1.0f;
  while (depth > 0) {
    depth--;
    const float begin = begins[depth], length = lengths[depth];
    const float ends = peak(begin, centre, width) + peak(begin + length, centre, width);
    const float middle = peak(begin + 0.5f * length, centre, width);
    const float quarters = peak(begin + 0.25f * length, centre, width) + peak(begin + 0.75f * length, centre, width);
    const float rough = length / 6 * (ends + 4 * middle), fine = length / 12 * (ends + 2 * middle + 4 * quarters);
    if (fabsf(fine - rough) < 15 * tolerance * length || length < 1e-5f) {
      sum += fine;
    } else {
      lengths[depth] = lengths[depth + 1] = 0.5f * length;
      begins[depth] = begin;
      begins[depth + 1] = begin + 0.5f * length;
      depth += 2;
    }
  }
  out[i] = sum;
}

// The smaller one of two prime factors, by Pollard's method: two walks modulo the number until they meet in a factor.
__global__ void pollard_rho(const u32* __restrict__ numbers, u32* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  const u32 number = numbers[i];
  u32 factor = number;
  for (u32 offset = 1; factor == number; offset++) {
    u32 slow = 2, fast = 2;
    factor = 1;
    while (factor == 1) {
      slow = (u32)(((u64)slow * slow + offset) % number);
      fast = (u32)(((u64)fast * fast + offset) % number);
      fast = (u32)(((u64)fast * fast + offset) % number);
      u32 a = slow > fast ? slow - fast : fast - slow, b = number;
      while (a) {
        const u32 rest = b % a;
        b = a;
        a = rest;
      }
      factor = b;
    }
  }
  out[i] = min(factor, number / factor);
}

// The permutation of N elements with a given number, N bytes of it per thread; the elements left are a local array.
template <int N>
__global__ void unrank_permutations(const u32* __restrict__ numbers, u8* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  u8 left[N];
  u32 rest = numbers[i], choices[N];
#pragma unroll
  for (int k = 0; k < N; k++) left[k] = k;
#pragma unroll
  for (int k = 0; k < N; k++) {
    choices[N - 1 - k] = rest % (k + 1);
    rest /= k + 1;
  }
  for (int k = 0; k < N; k++) {
    const int which = choices[k];
    out[(size_t)k * n + i] = left[which];
    for (int j = which; j < N - 1 - k; j++) left[j] = left[j + 1];
  }
}

// Tiles of 32 x 32 numbers in the order of a snake: rows in turn up and down, then columns, until all are in order.
__device__ __forceinline__ int sorted_in_warp(int v, bool down, int lane) {
  for (int step = 0; step < 32; step++) {
    const int partner = (lane ^ 1) + ((step & 1) ? (lane & 1 ? 2 : -2) : 0);
    const bool paired = partner >= 0 && partner < 32;
    const int other = __shfl_sync(FULL, v, partner & 31);
    const bool keep_least = (lane < partner) != down;
    if (paired) v = keep_least ? min(v, other) : max(v, other);
  }
  return v;
}
__global__ void shear_sort(const int* __restrict__ in, int* __restrict__ out) {
  __shared__ int tile[32][33];
  const int lane = threadIdx.x, warp = threadIdx.y, warps = blockDim.y;
  const size_t first = (size_t)blockIdx.x * 1024;
  for (int r = warp; r < 32; r += warps) tile[r][lane] = in[first + r * 32 + lane];
  __syncthreads();
  for (int phase = 0; phase < 6; phase++) {
    for (int r = warp; r < 32; r += warps) tile[r][lane] = sorted_in_warp(tile[r][lane], r & 1, lane);
    __syncthreads();
    if (phase == 5) break;
    for (int c = warp; c < 32; c += warps) tile[lane][c] = sorted_in_warp(tile[lane][c], false, lane);
    __syncthreads();
  }
  for (int r = warp; r < 32; r += warps) out[first + r * 32 + lane] = tile[r][lane];
}

// --------------------------------------------------------------------------------------------------------- Monte Carlo

// The price of an option where the volatility moves, too: a path per thread, the mean of a block.
__global__ void heston_paths(float* __restrict__ means, int steps, float years, float strike, u32 seed) {
  __shared__ float sums[32];
  u32 state = mixed(global_id() ^ seed);
  const float dt = years / steps, root = sqrtf(dt);
  float price = 0.0f, variance = 0.04f;
  for (int k = 0; k < steps; k++) {
    const float length = sqrtf(-2.0f * __logf(luck(state)));
    float s, c;
    __sincosf(6.2831853f * luck(state), &s, &c);
    const float one = length * c, two = -0.7f * one + 0.71414284f * length * s;
    const float positive = fmaxf(variance, 0.0f), deviation = sqrtf(positive);
    price += -0.5f * positive * dt + deviation * root * one;
    variance += 1.5f * (0.04f - positive) * dt + 0.3f * deviation * root * two;
  }
  float sum = over_warp(fmaxf(__expf(price) - strike, 0.0f));
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int w = 0; w < (int)blockDim.x / 32; w++) sum += sums[w];
    means[blockIdx.x] = sum / blockDim.x;
  }
}

// Gillespie's algorithm: hares and lynxes, one event at a time, until the time is over or one kind is extinct.
__global__ void gillespie(int2* __restrict__ out, int n, int events, float until, u32 seed) {
  const int i = global_id();
  if (i >= n) return;
  u32 state = mixed(i ^ seed);
  int hares = 50, lynxes = 20;
  float time = 0.0f;
  for (int k = 0; k < events && hares && lynxes; k++) {
    const float births = hares, meals = 0.02f * hares * lynxes, deaths = 0.8f * lynxes;
    const float total = births + meals + deaths;
    time -= __logf(luck(state)) / total;
    if (time > until) break;
    const float drawn = luck(state) * total;
    if (drawn < births) {
      hares++;
    } else if (drawn < births + meals) {
      hares--;
      lynxes++;
    } else {
      lynxes--;
    }
  }
  out[i] = make_int2(hares, lynxes);
}

// Games of four in a row with moves at random, as bits: columns of seven bits, of which six are used.
__device__ __forceinline__ bool four_in_a_row(u64 b) {
  u64 m = b & b >> 7;
  if (m & m >> 14) return true;
  m = b & b >> 1;
  if (m & m >> 2) return true;
  m = b & b >> 6;
  if (m & m >> 12) return true;
  m = b & b >> 8;
  return m & m >> 16;
}
__global__ void connect_playouts(int* __restrict__ balance, int n, int games, u32 seed) {
  const int i = global_id();
  if (i >= n) return;
  u32 state = mixed(i ^ seed);
  int sum = 0;
  for (int g = 0; g < games; g++) {
    u64 mine = 0, theirs = 0;
    int sign = 1;
    for (int ply = 0; ply < 42; ply++) {
      state = state * 747796405u + 2891336453u;
      int column = (state >> 16) % 7;
      const u64 all = mine | theirs;
      while (all >> (7 * column + 5) & 1) column = column == 6 ? 0 : column + 1;
      mine |= (all + (1ull << 7 * column)) & 0x3full << 7 * column;
      if (four_in_a_row(mine)) {
        sum += sign;
        break;
      }
      const u64 held = mine;
      mine = theirs;
      theirs = held;
      sign = -sign;
    }
  }
  balance[i] = sum;
}
