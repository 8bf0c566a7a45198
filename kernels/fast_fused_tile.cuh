// Scale, bias, mask, causal mask and dropout of the shortest rows: fast_tile with other loads and stores.
//
// Idea     A tile moves as fast_tile moves it. The groups of lanes then take their rows from shared memory through the
//          function objects of fast_fused.cuh: only the innermost load and store are others. So scale, bias and masks
//          act on values that are not rounded.
// Idea     Dropout acts on the tile as one piece, not on rows: a pack has whole groups of four elements, which one
//          counter of Philox serves. A row's vectors would take it for each element. Forward, the results leave twice,
//          the second time with dropped elements. A gradient's elements are dropped before rows are taken.
// Traffic  Each element that counts read once and each result written once, coalesced. Packs beyond the diagonal are
//          not read. Operands that rows share come from the caches.
// Launch   block `block_size`; any grid: warps stride over the tiles.
// Limits   Those of fast_tile. Operands start at a multiple of a pack. An operand that rows of an odd length share is
//          `apart`.
// Source   fast_tile.cuh and fast_fused.cuh.
#pragma once

#include "fast_fused.cuh"
#include "fast_tile.cuh"

// A load from the warp's tile, whose first row is `first_row`, and a store to it.
template<typename T, typename Compute>
struct StagedLoad {
  const T* staged;
  long long first_row;
  int row_size;
};
template<typename T, typename Compute>
struct StagedStore {
  T* staged;
  long long first_row;
  int row_size;
};

template<typename T, typename Compute, int pack_size, bool apart>
struct RowLoad<StagedLoad<T, Compute>, pack_size, apart> {
  using Flight = Pack<T, pack_size>;
  static constexpr int words = (pack_size * sizeof(T) + 3) / 4;
  const T* start;

  __device__ RowLoad(const StagedLoad<T, Compute>& load, long long row)
      : start(load.staged + static_cast<int>(row - load.first_row) * load.row_size) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch&) const {
    flight.word = {};
    if (wanted) { flight.word = reinterpret_cast<const Flight*>(start + col)->word; }
  }
  __device__ void values(const Flight& flight, int, Compute* values) const {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] = static_cast<Compute>(flight.elem[i]); }
  }
};

template<typename T, typename Compute, int pack_size, bool apart>
struct RowStore<StagedStore<T, Compute>, pack_size, apart> {
  using Flight = Nothing;
  static constexpr int words = 0;
  T* start;

  __device__ RowStore(const StagedStore<T, Compute>& store, long long row)
      : start(store.staged + static_cast<int>(row - store.first_row) * store.row_size) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
  __device__ void store(const Compute* values, const Flight&, int col, bool wanted) const {
    Pack<T, pack_size> pack;
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { pack.elem[i] = static_cast<T>(values[i]); }
    if (wanted) { reinterpret_cast<Pack<T, pack_size>*>(start + col)->word = pack.word; }
  }
};

// The same load or store on a tile.
template<class Given>
struct OnTile;
template<typename T, typename Compute>
struct OnTile<DirectLoad<T, Compute>> {
  using type = StagedLoad<T, Compute>;
  template<class Tile>
  __device__ static type of(const DirectLoad<T, Compute>&, const Tile& tile, int input) {
    return {tile.staged[input], tile.first_row, tile.cols};
  }
};
template<typename T, typename Compute>
struct OnTile<DirectStore<T, Compute>> {
  using type = StagedStore<T, Compute>;
  template<class Tile>
  __device__ static type of(const DirectStore<T, Compute>&, const Tile& tile, int) {
    return {tile.staged[0], tile.first_row, tile.cols};
  }
};
template<typename Compute, class Inner>
struct OnTile<ScaleLoad<Compute, Inner>> {
  using type = ScaleLoad<Compute, typename OnTile<Inner>::type>;
  template<class Tile>
  __device__ static type of(const ScaleLoad<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.scale};
  }
};
template<typename Compute, class Inner, typename Element, class Bias>
struct OnTile<BiasLoad<Compute, Inner, Element, Bias>> {
  using type = BiasLoad<Compute, typename OnTile<Inner>::type, Element, Bias>;
  template<class Tile>
  __device__ static type of(const BiasLoad<Compute, Inner, Element, Bias>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.bias};
  }
};
template<typename Compute, class Inner, class Mask>
struct OnTile<MaskLoad<Compute, Inner, Mask>> {
  using type = MaskLoad<Compute, typename OnTile<Inner>::type, Mask>;
  template<class Tile>
  __device__ static type of(const MaskLoad<Compute, Inner, Mask>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.mask, given.fill};
  }
};
template<typename Compute, class Inner>
struct OnTile<CausalLoad<Compute, Inner>> {
  using type = CausalLoad<Compute, typename OnTile<Inner>::type>;
  template<class Tile>
  __device__ static type of(const CausalLoad<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.matrix_rows, given.diagonal, given.fill};
  }
};
template<typename Compute, class Inner>
struct OnTile<ScaleStore<Compute, Inner>> {
  using type = ScaleStore<Compute, typename OnTile<Inner>::type>;
  template<class Tile>
  __device__ static type of(const ScaleStore<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.scale};
  }
};
template<typename Compute, class Inner, class Mask>
struct OnTile<MaskStore<Compute, Inner, Mask>> {
  using type = MaskStore<Compute, typename OnTile<Inner>::type, Mask>;
  template<class Tile>
  __device__ static type of(const MaskStore<Compute, Inner, Mask>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.mask};
  }
};
template<typename Compute, class Inner>
struct OnTile<CausalStore<Compute, Inner>> {
  using type = CausalStore<Compute, typename OnTile<Inner>::type>;
  template<class Tile>
  __device__ static type of(const CausalStore<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.matrix_rows, given.diagonal};
  }
};
// What dropout zeroes is 0 in the tile before rows are taken.
template<typename Compute, class Inner>
struct OnTile<DropoutLoad<Compute, Inner>> {
  using type = ScaleLoad<Compute, typename OnTile<Inner>::type>;
  template<class Tile>
  __device__ static type of(const DropoutLoad<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner>::of(given.inner, tile, input), given.dropout.scale};
  }
};
template<typename Compute, class Whole, class Dropped>
struct OnTile<DropoutStore<Compute, Whole, Dropped>> {
  using type = typename OnTile<Whole>::type;
  template<class Tile>
  __device__ static type of(const DropoutStore<Compute, Whole, Dropped>& given, const Tile& tile, int input) {
    return OnTile<Whole>::of(given.result, tile, input);
  }
};

// Which elements of a tile a causal load needs.
template<class Load>
struct NeededPacks;
template<typename Compute, class Inner>
struct NeededPacks<CausalLoad<Compute, Inner>> {
  static constexpr int many = 1 << 15;  // more rows, or elements, than a tile has
  int rows_left;                        // of the matrix of the tile's first row
  int matrix_rows;
  int last_col;  // of the tile's first row
  int diagonal;
  int cols;
  float rows_per_element;

  __device__ NeededPacks(const CausalLoad<Compute, Inner>& load, long long first_row, int cols)
      : cols(cols), rows_per_element(1.0f / cols) {
    const long long in_matrix = first_row % load.matrix_rows;
    rows_left = static_cast<int>(min(load.matrix_rows - in_matrix, static_cast<long long>(many)));
    matrix_rows = static_cast<int>(min(load.matrix_rows, static_cast<long long>(many)));
    last_col = limited(in_matrix + load.diagonal);
    diagonal = limited(load.diagonal);
  }
  // A tile has less than 2^15 elements, so the quotient is at least 2^-10 away from the next row.
  __device__ bool needs(int at, int count) const {
    const int row = static_cast<int>((at + 0.5f) * rows_per_element), col = at - row * cols;
    const int last = row < rows_left ? last_col + row : diagonal + (row - rows_left) % matrix_rows;
    return col + count > cols || col <= last;
  }
  __device__ static int limited(long long col) {
    return static_cast<int>(max(-static_cast<long long>(many), min(col, static_cast<long long>(many))));
  }
};

template<class Load>
constexpr bool reads_all = true;
template<typename Compute, class Inner>
constexpr bool reads_all<CausalLoad<Compute, Inner>> = false;

template<typename Compute, class Inner>
constexpr bool drops<DropoutLoad<Compute, Inner>> = true;

// Dropout of a pack at an element of the tile that begins at `start`.
template<typename Compute>
struct DropPack {
  Dropout<Compute> dropout;
  long long start;

  template<typename T, int count>
  __device__ void operator()(Pack<T, count>& pack, int at) const {
    Compute values[count];
#pragma unroll
    for (int i = 0; i < count; ++i) { values[i] = static_cast<Compute>(pack.elem[i]); }
    dropout.template apply<count>(values, 0, start + at);
#pragma unroll
    for (int i = 0; i < count; ++i) { pack.elem[i] = static_cast<T>(values[i]); }
  }
};

// A lane's vectors of one row, and the single element that remains of it.
template<class Operator, class First, class Second, class Store, int vector_size, int vectors, bool apart>
struct TileRow {
  using Compute = typename Operator::Compute;
  template<class Load>
  using Flight = typename RowLoad<Load, vector_size, apart>::Flight;

  RowLoad<First, vector_size, apart> first;
  RowLoad<Second, vector_size, apart> second;
  RowStore<Store, vector_size, apart> target;
  Flight<First> of_first[vectors];
  Flight<Second> of_second[vectors];
  typename RowStore<Store, vector_size, apart>::Flight of_target[vectors];

  __device__ TileRow(const First& first, const Second& second, const Store& store, long long row)
      : first(first, row), second(second, row), target(store, row) {}

  __device__ void fetch(int v, int col, bool wanted) {
    LastFetch last;
    first.fetch(of_first[v], col, wanted, last);
    second.fetch(of_second[v], col, wanted, last);
    target.fetch(of_target[v], col, wanted, last);
  }
  template<int elements>
  __device__ void give(LaneElements<Operator, elements>& to, int start, int v, int col, bool wanted) const {
    Compute value[Operator::inputs][vector_size];
    first.values(of_first[v], col, value[0]);
    if constexpr (Operator::inputs > 1) { second.values(of_second[v], col, value[1]); }
#pragma unroll
    for (int i = 0; i < vector_size; ++i) {
#pragma unroll
      for (int k = 0; k < Operator::inputs; ++k) {
        to.elem[k][start + i] = wanted ? value[k][i] : Operator::filler();
      }
    }
  }
  __device__ void store(const Compute* values, int v, int col, bool wanted) const {
    target.store(values, of_target[v], col, wanted);
  }
};

template<
    class Operator, typename T, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs,
    bool apart>
struct FusedTile : Tile<Operator, T, pack_size, vector_size, vectors, odd, width, slabs> {
  using Base = Tile<Operator, T, pack_size, vector_size, vectors, odd, width, slabs>;
  using Compute = typename Operator::Compute;
  static constexpr int in_vectors = vectors * vector_size;

  long long first_row;

  template<bool full, class First, class Second, class Store>
  __device__ void work(const First& first, const Second& second, const Store& store, int tile_rows) {
    const long long start = first_row * this->cols;
    const int elements = tile_rows * this->cols;
    if constexpr (Operator::inputs > 1) {
      const T* const source[] = {source_of(first), source_of(second)};
      this->template load<full>(source, start, elements);
    } else if constexpr (reads_all<First>) {
      const T* const source[] = {source_of(first)};
      this->template load<full>(source, start, elements);
    } else {
      load_needed(source_of(first) + start, NeededPacks<First>(first, first_row, this->cols), elements);
    }
    __syncwarp();
    if constexpr (drops<First>) {
      drop(first.dropout, start, elements);
      __syncwarp();
    }
    compute<full>(first, second, store, tile_rows);
    __syncwarp();
    if constexpr (drops<Store>) {
      this->template store<full>(target_of(store.result), start, elements);
      store_dropped(target_of(store.dropped) + start, DropPack<Compute>{store.dropout, start}, elements);
    } else {
      this->template store<full>(target_of(store), start, elements);
    }
    __syncwarp();
  }

 private:
  // As load(), without the packs that the rows do not need.
  template<class Needed>
  __device__ void load_needed(const T* source, const Needed& needed, int elements) {
    const int packs = static_cast<unsigned int>(elements) / pack_size;
    auto* const staged = reinterpret_cast<Pack<T, pack_size>*>(this->staged[0]);
#pragma unroll 2
    for (int pack = this->lane; pack < packs; pack += 32) {
      this->copy_pack(needed.needs(pack * pack_size, pack_size), staged + pack, source + pack * pack_size);
    }
#pragma unroll 1
    for (int at = packs * pack_size + this->lane; at < elements; at += 32) { this->staged[0][at] = source[at]; }
    if constexpr (Base::copies_async) { wait_all_copies(); }
  }
  // Zeroes the dropped elements of the first input.
  __device__ void drop(const Dropout<Compute>& dropout, long long start, int elements) {
    DropPack<Compute> drops{dropout, start};
    drops.dropout.scale = 1;
    const int packs = static_cast<unsigned int>(elements) / pack_size;
    auto* const staged = reinterpret_cast<Pack<T, pack_size>*>(this->staged[0]);
#pragma unroll 1
    for (int pack = this->lane; pack < packs; pack += 32) { drops(staged[pack], pack * pack_size); }
#pragma unroll 1
    for (int at = packs * pack_size + this->lane; at < elements; at += 32) {
      drops(reinterpret_cast<Pack<T, 1>*>(this->staged[0])[at], at);
    }
  }

  // The results once more, with dropped elements.
  __device__ void store_dropped(T* target, const DropPack<Compute>& drops, int elements) const {
    const int packs = static_cast<unsigned int>(elements) / pack_size;
    const auto* const staged = reinterpret_cast<const Pack<T, pack_size>*>(this->staged[0]);
#pragma unroll 1
    for (int pack = this->lane; pack < packs; pack += 32) {
      Pack<T, pack_size> moved = staged[pack];
      drops(moved, pack * pack_size);
      reinterpret_cast<Pack<T, pack_size>*>(target)[pack].word = moved.word;
    }
#pragma unroll 1
    for (int at = packs * pack_size + this->lane; at < elements; at += 32) {
      Pack<T, 1> moved = reinterpret_cast<const Pack<T, 1>*>(this->staged[0])[at];
      drops(moved, at);
      target[at] = moved.elem[0];
    }
  }

  // The rows of this lane's group, as in fast_tile.
  template<bool full, class First, class Second, class Store>
  __device__ void compute(const First& first, const Second& second, const Store& store, int tile_rows) {
    const auto from = OnTile<First>::of(first, *this, 0);
    const auto also = second_on_tile(second);
    const auto to = OnTile<Store>::of(store, *this, 0);
    constexpr int at_once = full ? Base::slabs_at_once() : 1;
#pragma unroll 1
    for (int r = 0; r < width; ++r) {
#pragma unroll 1
      for (int slab = 0; slab < slabs; slab += at_once) {
        const int row = slab * 32 + this->lane / width * width + r;
        rows_at<full, at_once>(from, also, to, row, tile_rows);
      }
    }
  }
  __device__ auto second_on_tile(NoLoad none) const { return none; }
  template<class Second>
  __device__ auto second_on_tile(const Second& second) const {
    return OnTile<Second>::of(second, *this, 1);
  }

  template<bool full, int at_once, class First, class Second, class Store>
  __device__ void rows_at(const First& first, const Second& second, const Store& store, int row, int tile_rows) {
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int own = row + i * 32;
      const int held = full ? own : min(own, tile_rows - 1);
      TileRow<Operator, First, Second, Store, vector_size, vectors, apart> body(first, second, store, first_row + held);
      TileRow<Operator, First, Second, Store, 1, 1, false> single(first, second, store, first_row + held);
      typename Base::Elements elements;
      const int offset = odd ? row % 2 : 0, single_col = row % 2 ? 0 : this->cols - 1;
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        body.fetch(v, offset + column(v), this->template has<full>(v, own, tile_rows));
      }
      if constexpr (odd) { single.fetch(0, single_col, this->template has_single<full>(own, tile_rows)); }
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        const bool wanted = this->template has<full>(v, own, tile_rows);
        body.give(elements, v * vector_size, v, offset + column(v), wanted);
      }
      if constexpr (odd) {
        single.give(elements, in_vectors, 0, single_col, this->template has_single<full>(own, tile_rows));
      }
      const typename Operator::Result result(Operator::template reduce_group<width>(elements));
      elements.template visit<true>([&](Compute* values) { values[0] = result(values); });
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        const bool wanted = this->template has<full>(v, own, tile_rows);
        body.store(elements.elem[0] + v * vector_size, v, offset + column(v), wanted);
      }
      if constexpr (odd) {
        const bool wanted = this->template has_single<full>(own, tile_rows);
        single.store(elements.elem[0] + in_vectors, 0, single_col, wanted);
      }
    }
  }
  __device__ int column(int vector) const { return (vector * width + this->lane % width) * vector_size; }
};

// The array that a store writes in the end.
template<typename T, typename Compute>
__device__ T* target_of(const DirectStore<T, Compute>& store) {
  return store.destination;
}
template<class Store>
__device__ auto target_of(const Store& store) {
  return target_of(store.inner);
}

template<
    class Operator, typename T, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs,
    int block_size, bool apart, class First, class Second, class Store>
__device__ void fused_tile_rows(
    const First& first, const Second& second, const Store& store, long long rows, long long cols) {
  using WarpTile = FusedTile<Operator, T, pack_size, vector_size, vectors, odd, width, slabs, apart>;
  constexpr int words = (WarpTile::most_elements * sizeof(T) + sizeof(uint4) - 1) / sizeof(uint4);
  __shared__ uint4 staged[block_size / 32][Operator::inputs][words];
  WarpTile tile;
#pragma unroll
  for (int k = 0; k < Operator::inputs; ++k) { tile.staged[k] = reinterpret_cast<T*>(staged[threadIdx.x / 32][k]); }
  tile.cols = static_cast<int>(cols);
  tile.lane = threadIdx.x % 32;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const long long warps = static_cast<long long>(gridDim.x) * blockDim.x / 32;

  for (tile.first_row = warp * WarpTile::rows; tile.first_row < rows; tile.first_row += warps * WarpTile::rows) {
    const int tile_rows = static_cast<int>(min(rows - tile.first_row, static_cast<long long>(WarpTile::rows)));
    if (tile_rows == WarpTile::rows) {
      tile.template work<true>(first, second, store, tile_rows);
    } else {
      tile.template work<false>(first, second, store, tile_rows);
    }
  }
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int vector_size, int vectors, bool odd,
    int width, int slabs, int block_size, int blocks_per_sm, bool apart>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    fast_tile_fused(Load load, Store store, long long rows, long long cols) {
  using Operator = Forward<ComputeType<T>, algorithm>;
  fused_tile_rows<Operator, T, pack_size, vector_size, vectors, odd, width, slabs, block_size, apart>(
      load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int vector_size, int vectors, bool odd,
    int width, int slabs, int block_size, int blocks_per_sm, bool apart>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    fast_tile_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operator = Backward<Compute, algorithm>;
  fused_tile_rows<Operator, T, pack_size, vector_size, vectors, odd, width, slabs, block_size, apart>(
      dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}
