// The shortest rows at the speed of memory: a warp moves many rows as one piece, and exchanges them in shared memory.
//
// Idea     A row of a few elements begins and ends anywhere, so it is not what memory moves. A tile is: 32 neighbouring
//          rows, or a multiple of that, so it begins at a sector (32 bytes) for rows of any length. A warp copies its
//          tile to shared memory by 16 bytes per lane. There groups of lanes take rows of their own, compute them in
//          registers and put the results in their place. Then the warp writes the tile as it read it.
// Idea     No bank conflicts, without padding: a lane takes `vector_size` elements at once, the largest power of two
//          that divides a row. Then a row is an odd number of such vectors. The lanes of a group take neighbouring
//          vectors, and a group takes `width` neighbouring rows, one after the other. So the groups' vectors are an odd
//          multiple of `width` apart, and the 32 lanes of a warp use 32 different banks.
// Idea     A row of an odd number of 16-bit elements is pairs and a single one: the first element of an odd row, the last
//          of an even one. So every pair is one aligned word. The order of a row's elements changes no result but by
//          rounding. (Two lanes use one bank at most: rows of odd and of even number begin half a word apart.)
// Traffic  Global memory: each element read once and written once, coalesced. Shared memory: two writes, two reads.
// Launch   block `block_size`, one-dimensional; any grid: warps stride over the tiles. `blocks_per_sm` bounds the
//          registers: the tiles of all warps on an SM are the bytes in flight.
// Limits   cols has more than width * (vectors - 1) vectors, and at most width * vectors. vector_size divides cols; with
//          `odd` it is 2, and one element remains. The arrays start at a multiple of a pack. cp.async needs sm_80.
// Source   CUDA C++ Best Practices Guide, "Shared Memory"; OneFlow's softmax for the group of lanes.
#pragma once

#include "fast_launch.cuh"
#include "fast_memory.cuh"
#include "fast_operator.cuh"
#include "lane_elements.cuh"

// A lane takes several rows at once if they take at most this many registers: then no row waits for the one before.
constexpr int fast_tile_words = 32;

// A tile has 32 * `slabs` rows; `slabs` is a power of two.
template<class Operator, typename T, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs>
struct Tile {
  static constexpr int inputs = Operator::inputs;
  static constexpr int rows = 32 * slabs;
  static constexpr int row_elements = vectors * vector_size + odd;  // of a lane
  static constexpr int most_elements = rows * width * row_elements;
  static constexpr int packs_per_lane = (most_elements / 32 + pack_size - 1) / pack_size;
  // The fewest elements of a full tile, and packs that each lane then has for certain.
  static constexpr int fewest_elements = rows * ((width * (vectors - 1) + 1) * vector_size + odd);
  static constexpr int certain_packs = fewest_elements / (32 * pack_size);
  static constexpr int row_words = inputs * row_elements * sizeof(typename Operator::Compute) / 4;
  using Vector = Pack<T, vector_size>;
  using Elements = LaneElements<Operator, row_elements>;

  T* staged[inputs];  // in shared memory, the warp's own
  int cols;
  int lane;

  // Moves and computes the tile that begins at `start`. Only the array's last tile is not full.
  template<bool full>
  __device__ void work(const T* const (&source)[inputs], T* target, long long start, int tile_rows) {
    load<full>(source, start, tile_rows * cols);
    __syncwarp();
    compute<full>(tile_rows);
    __syncwarp();
    store<full>(target, start, tile_rows * cols);
    __syncwarp();
  }

 protected:
  using WidePack = Pack<T, pack_size>;
  static constexpr bool copies_async = sizeof(WidePack) >= 4;

  // Whether this lane has the j-th of its packs, of `packs` in the tile.
  template<bool full>
  __device__ bool has_pack(int j, int packs) const {
    return (full && j < certain_packs) || j * 32 + lane < packs;
  }

  // From global to shared memory. cp.async takes no register, so all copies are in flight at once.
  template<bool full>
  __device__ void load(const T* const (&source)[inputs], long long start, int elements) {
    const int packs = static_cast<unsigned int>(elements) / pack_size;
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
      const T* const from = source[k] + start + lane * pack_size;
      auto* const shared = reinterpret_cast<WidePack*>(staged[k]) + lane;
#pragma unroll
      for (int j = 0; j < packs_per_lane; ++j) {
        copy_pack(has_pack<full>(j, packs), shared + j * 32, from + j * 32 * pack_size);
      }
    }
    const int last = packs * pack_size + lane;
    if (!full && last < elements) {
#pragma unroll
      for (int k = 0; k < inputs; ++k) { staged[k][last] = source[k][start + last]; }
    }
    if constexpr (copies_async) { wait_all_copies(); }
  }

  template<bool full>
  __device__ void store(T* target, long long start, int elements) const {
    const int packs = static_cast<unsigned int>(elements) / pack_size;
    const auto* const shared = reinterpret_cast<const WidePack*>(staged[0]);
    T* const to = target + start + lane * pack_size;
    // A few packs at once: their registers are free again before the next ones are read.
#pragma unroll
    for (int first = 0; first < packs_per_lane; first += 4) {
      WidePack moved[4];
#pragma unroll
      for (int j = first; j < first + 4 && j < packs_per_lane; ++j) {
        // A full tile has a pack 0. If the load were under a predicate, the compiler would keep the registers of
        // `moved` from one tile to the next.
        const bool wanted = has_pack<full>(j, packs);
        if (full || wanted) { moved[j - first] = shared[wanted ? j * 32 + lane : 0]; }
      }
#pragma unroll
      for (int j = first; j < first + 4 && j < packs_per_lane; ++j) {
        store_if(has_pack<full>(j, packs), to + j * 32 * pack_size, moved[j - first].word);
      }
    }
    const int last = packs * pack_size + lane;
    if (!full && last < elements) { target[start + last] = staged[0][last]; }
  }

  __device__ static void copy_pack(bool wanted, WidePack* shared, const T* address) {
    if constexpr (copies_async) {
      copy_async_if(wanted, shared, address);
    } else {
      if (wanted) { shared->elem[0] = *address; }
    }
  }

  // The rows of this lane's group: `width` neighbouring rows of each slab. The results replace the first input.
  template<bool full>
  __device__ void compute(int tile_rows) {
    constexpr int at_once = full ? slabs_at_once() : 1;
#pragma unroll 1
    for (int r = 0; r < width; ++r) {
#pragma unroll 1
      for (int slab = 0; slab < slabs; slab += at_once) {
        const int row = slab * 32 + lane / width * width + r;
        Elements elements[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i) { read<full>(elements[i], row + i * 32, tile_rows); }
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
          const auto statistic = Operator::template reduce_group<width>(elements[i]);
          const typename Operator::Result result(statistic);
          elements[i].template visit<true>(
              [&](typename Operator::Compute* values) { values[0] = result(values); });
        }
#pragma unroll
        for (int i = 0; i < at_once; ++i) { write<full>(elements[i], row + i * 32, tile_rows); }
      }
    }
  }
  __device__ static constexpr int slabs_at_once() {
    int count = slabs;
    while (count > 1 && count * row_words > fast_tile_words) { count /= 2; }
    return count;
  }

  // Whether the group's row has a vector for this lane: only the last one can be missing.
  template<bool full>
  __device__ bool has(int vector, int row, int tile_rows) const {
    const bool within_row = vector + 1 < vectors || width == 1 || vector * width + lane % width < cols / vector_size;
    return within_row && (full || row < tile_rows);
  }
  __device__ int vector_offset(int vector, int row) const {
    return row * cols + (odd ? row % 2 : 0) + (vector * width + lane % width) * vector_size;
  }
  // The single element of an odd row belongs to the group's first lane.
  template<bool full>
  __device__ bool has_single(int row, int tile_rows) const {
    return lane % width == 0 && (full || row < tile_rows);
  }
  __device__ int single_offset(int row) const { return row * cols + (row % 2 ? 0 : cols - 1); }

  template<bool full>
  __device__ void read(Elements& own, int row, int tile_rows) const {
    using Compute = typename Operator::Compute;
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        const bool wanted = has<full>(v, row, tile_rows);
        Vector vector;
        if (wanted) { vector.word = reinterpret_cast<const Vector*>(staged[k] + vector_offset(v, row))->word; }
#pragma unroll
        for (int i = 0; i < vector_size; ++i) {
          own.elem[k][v * vector_size + i] = wanted ? static_cast<Compute>(vector.elem[i]) : Operator::filler();
        }
      }
      if constexpr (odd) {
        own.elem[k][row_elements - 1] = Operator::filler();
        if (has_single<full>(row, tile_rows)) {
          own.elem[k][row_elements - 1] = static_cast<Compute>(staged[k][single_offset(row)]);
        }
      }
    }
  }
  template<bool full>
  __device__ void write(const Elements& own, int row, int tile_rows) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      Vector vector;
#pragma unroll
      for (int i = 0; i < vector_size; ++i) { vector.elem[i] = static_cast<T>(own.elem[0][v * vector_size + i]); }
      if (has<full>(v, row, tile_rows)) {
        reinterpret_cast<Vector*>(staged[0] + vector_offset(v, row))->word = vector.word;
      }
    }
    if constexpr (odd) {
      if (has_single<full>(row, tile_rows)) {
        staged[0][single_offset(row)] = static_cast<T>(own.elem[0][row_elements - 1]);
      }
    }
  }
};

template<
    class Operator, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs, int block_size,
    typename T>
__device__ void fast_tile_rows(const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  using WarpTile = Tile<Operator, T, pack_size, vector_size, vectors, odd, width, slabs>;
  constexpr int words = (WarpTile::most_elements * sizeof(T) + sizeof(uint4) - 1) / sizeof(uint4);
  __shared__ uint4 staged[block_size / 32][Operator::inputs][words];
  WarpTile tile;
#pragma unroll
  for (int k = 0; k < Operator::inputs; ++k) { tile.staged[k] = reinterpret_cast<T*>(staged[threadIdx.x / 32][k]); }
  tile.cols = static_cast<int>(cols);
  tile.lane = threadIdx.x % 32;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const long long warps = static_cast<long long>(gridDim.x) * blockDim.x / 32;

  follow_previous_kernel();
  for (long long first = warp * WarpTile::rows; first < rows; first += warps * WarpTile::rows) {
    const int tile_rows = static_cast<int>(min(rows - first, static_cast<long long>(WarpTile::rows)));
    if (tile_rows == WarpTile::rows) {
      tile.template work<true>(source, target, first * cols, tile_rows);
    } else {
      tile.template work<false>(source, target, first * cols, tile_rows);
    }
  }
}

// The operators work in the compute type: a lane converts its elements when it takes them from shared memory.
template<
    typename T, Algorithm algorithm, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs,
    int block_size, int blocks_per_sm>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    fast_tile(const T* x, T* y, long long rows, long long cols) {
  using Operator = Forward<ComputeType<T>, algorithm>;
  const T* const source[] = {x};
  fast_tile_rows<Operator, pack_size, vector_size, vectors, odd, width, slabs, block_size>(source, y, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs,
    int block_size, int blocks_per_sm>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    fast_tile_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  using Operator = Backward<ComputeType<T>, algorithm>;
  const T* const source[] = {dy, y};
  fast_tile_rows<Operator, pack_size, vector_size, vectors, odd, width, slabs, block_size>(source, dx, rows, cols);
}
