// Scale, bias, mask, causal mask and dropout of the shortest rows: fast_tile with other loads and stores.
//
// Idea     A tile moves as fast_tile moves it. The groups of lanes then take their rows from shared memory through the
//          function objects of fast_fused.cuh: only the innermost load and store are others. So scale, bias and masks
//          act on values that are not rounded.
// Idea     Dropout acts on the tile as one piece, not on rows: a pack has whole groups of four elements, which one
//          counter of Philox serves. A row's vectors would take it for each element. Forward, the results leave twice,
//          the second time with dropped elements. A gradient's elements are dropped before rows are taken.
// Idea     A bias or a mask with elements of its own for each row lies as x does, so its tile moves as x's does. Of
//          other operands a lane loads what it needs: two elements here and there.
// Idea     Which row of an operand, and which column of a diagonal, belongs to a row follows from the tile's first row
//          by a few instructions of 32 bits. A division of 64 bits takes 45, as many as four elements.
// Traffic  Each element that counts read once and each result written once, coalesced. Packs beyond the diagonal are
//          not read. Operands that rows share come from the caches.
// Launch   block `block_size`; any grid: warps stride over the tiles.
// Limits   Those of fast_tile. Operands start at a multiple of a pack. An operand whose pairs do not lie as those of
//          rows of an odd length is `apart`. With `stages`, each row has elements of its own in every operand of one
//          dimension along the row.
// Source   fast_tile.cuh and fast_fused.cuh.
#pragma once

#include "fast_fused.cuh"
#include "fast_tile.cuh"

// How the rows of a tile lie in one dimension of many rows, such as the rows of a matrix. A tile has at most 2^11 rows,
// so a dimension that ends further away than `most` rows may as well end there.
struct TileDimension {
  static constexpr int most = 1 << 12;
  int size;
  int first;            // place of the tile's first row
  unsigned int factor;  // 2^31 / size

  TileDimension() = default;
  __device__ TileDimension(long long place, long long rows)
      : size(static_cast<int>(min(rows, static_cast<long long>(most)))),
        first(size - static_cast<int>(min(rows - place, static_cast<long long>(size)))),
        factor((1u << 31) / size) {}
  // How often the dimension ends before row `row` of the tile. (2n + 1) / 2 is at least 1/2 away from the next multiple
  // of size, and the product is less than 2^-5 too small, so one multiplication divides.
  __device__ int ends_before(int row) const {
    return static_cast<int>(__umulhi(2 * static_cast<unsigned int>(first + row) + 1, factor));
  }
};

// A Broadcast as a tile's rows see it. Numbers of 64 bits are divided once per tile, not once per row.
template<typename Element, int dimensions, bool along_row>
struct TileOperand {
  const Element* start;  // of the tile's first row
  int stride;            // to the next row
  long long beyond[dimensions];  // what is added to that where a dimension ends
  TileDimension dimension[dimensions];

  __device__ TileOperand(const Broadcast<Element, dimensions, along_row>& operand, long long first_row)
      : start(operand.elements), stride(static_cast<int>(operand.strides[dimensions - 1])) {
#pragma unroll
    for (int d = dimensions - 1; d > 0; --d) {
      const long long size = operand.sizes[d], place = first_row % size;
      dimension[d] = TileDimension(place, size);
      beyond[d] = operand.strides[d - 1] - size * operand.strides[d];
      start += place * operand.strides[d];
      first_row /= size;
    }
    start += first_row * operand.strides[0];
  }
  __device__ const Element* row(int row) const {
    const Element* result = start + row * stride;
#pragma unroll
    for (int d = dimensions - 1; d > 0; --d) {
      row = dimension[d].ends_before(row);
      result += row * beyond[d];
    }
    return result;
  }
};
template<typename Element, int dimensions, bool along_row, int pack_size, bool apart>
struct RowOperand<TileOperand<Element, dimensions, along_row>, pack_size, apart>
    : RowOperand<Broadcast<Element, dimensions, along_row>, pack_size, apart> {
  __device__ RowOperand(const TileOperand<Element, dimensions, along_row>& operand, long long row)
      : RowOperand<Broadcast<Element, dimensions, along_row>, pack_size, apart>(operand.row(static_cast<int>(row))) {}
};

// An operand that the warp has moved to shared memory with the tile: each row has elements of its own.
template<typename Element>
struct StagedOperand {
  const Element* staged;
  int row_size;
};
template<typename Element, int pack_size, bool apart>
struct RowOperand<StagedOperand<Element>, pack_size, apart> {
  using Flight = Pack<Element, pack_size>;
  static constexpr int words = (pack_size * sizeof(Element) + 3) / 4;
  const Element* start;

  __device__ RowOperand(const StagedOperand<Element>& operand, long long row)
      : start(operand.staged + static_cast<int>(row) * operand.row_size) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch&) const {
    flight.word = {};
    if (wanted) { flight.word = reinterpret_cast<const Flight*>(start + col)->word; }
  }
  __device__ Element element(const Flight& flight, int, int i) const { return flight.elem[i]; }
};

// Which operands a load or store has in a tile: those of one dimension along the row, if the kernel `stages` them.
template<class Function>
struct Stages {
  static constexpr bool bias = Stages<decltype(Function::inner)>::bias;
  static constexpr bool mask = Stages<decltype(Function::inner)>::mask;
};
template<typename T, typename Compute>
struct Stages<DirectLoad<T, Compute>> {
  static constexpr bool bias = false, mask = false;
};
template<typename T, typename Compute>
struct Stages<DirectStore<T, Compute>> {
  static constexpr bool bias = false, mask = false;
};
template<typename Compute, class Whole, class Dropped>
struct Stages<DropoutStore<Compute, Whole, Dropped>> : Stages<Whole> {};
template<typename Compute, class Inner, typename Element>
struct Stages<BiasLoad<Compute, Inner, Element, Broadcast<Element, 1, true>>> : Stages<Inner> {
  static constexpr bool bias = true;
};
template<typename Compute, class Inner>
struct Stages<MaskLoad<Compute, Inner, Broadcast<unsigned char, 1, true>>> : Stages<Inner> {
  static constexpr bool mask = true;
};
template<typename Compute, class Inner>
struct Stages<MaskStore<Compute, Inner, Broadcast<unsigned char, 1, true>>> : Stages<Inner> {
  static constexpr bool mask = true;
};
// Where the elements of a bias, or of a mask, begin.
template<class Function>
__device__ auto bias_of(const Function& function) {
  return bias_of(function.inner);
}
template<typename Compute, class Inner, typename Element, class Bias>
__device__ const Element* bias_of(const BiasLoad<Compute, Inner, Element, Bias>& load) {
  return load.bias.elements;
}
template<class Function>
__device__ const unsigned char* mask_of(const Function& function) {
  return mask_of(function.inner);
}
template<typename Compute, class Inner, class Mask>
__device__ const unsigned char* mask_of(const MaskLoad<Compute, Inner, Mask>& load) {
  return load.mask.elements;
}
template<typename Compute, class Inner, class Mask>
__device__ const unsigned char* mask_of(const MaskStore<Compute, Inner, Mask>& store) {
  return store.mask.elements;
}

// The diagonal of a causal load or store as a tile's rows see it.
struct TileDiagonal {
  static constexpr long long many = 1 << 30;  // more columns than a row of a tile has
  TileDimension matrix;
  int first;  // last column of the tile's first row
  int next;   // the same if that row belonged to the next matrix

  template<class Function>
  __device__ TileDiagonal(const Function& causal, long long first_row) {
    const long long place = first_row % causal.matrix_rows;
    matrix = TileDimension(place, causal.matrix_rows);
    first = limited(place + causal.diagonal);
    next = limited(place + causal.diagonal - causal.matrix_rows);
  }
  __device__ int last_column(int row) const {
    const int ended = matrix.ends_before(row);
    return row + (ended ? next - (ended - 1) * matrix.size : first);
  }

 private:
  __device__ static int limited(long long col) { return static_cast<int>(max(-many, min(col, many))); }
};
template<typename Compute, typename Inner>
struct CausalTileLoad {
  Inner inner;
  TileDiagonal diagonal;
  Compute fill;
};
template<typename Compute, typename Inner>
struct CausalTileStore {
  Inner inner;
  TileDiagonal diagonal;
};
template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowLoad<CausalTileLoad<Compute, Inner>, pack_size, apart>
    : RowLoad<CausalLoad<Compute, Inner>, pack_size, apart> {
  __device__ RowLoad(const CausalTileLoad<Compute, Inner>& load, long long row)
      : RowLoad<CausalLoad<Compute, Inner>, pack_size, apart>(
            load, row, load.diagonal.last_column(static_cast<int>(row))) {}
};
template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowStore<CausalTileStore<Compute, Inner>, pack_size, apart>
    : RowStore<CausalStore<Compute, Inner>, pack_size, apart> {
  __device__ RowStore(const CausalTileStore<Compute, Inner>& store, long long row)
      : RowStore<CausalStore<Compute, Inner>, pack_size, apart>(
            store, row, store.diagonal.last_column(static_cast<int>(row))) {}
};

// A load from the warp's tile and a store to it. Their rows are counted from the tile's first one.
template<typename T, typename Compute>
struct StagedLoad {
  const T* staged;
  int row_size;
};
template<typename T, typename Compute>
struct StagedStore {
  T* staged;
  int row_size;
};

template<typename T, typename Compute, int pack_size, bool apart>
struct RowLoad<StagedLoad<T, Compute>, pack_size, apart> {
  using Flight = Pack<T, pack_size>;
  static constexpr int words = (pack_size * sizeof(T) + 3) / 4;
  const T* start;

  __device__ RowLoad(const StagedLoad<T, Compute>& load, long long row)
      : start(load.staged + static_cast<int>(row) * load.row_size) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch&) const {
    flight.word = {};
    if (wanted) { flight.word = reinterpret_cast<const Flight*>(start + col)->word; }
  }
  __device__ void values(const Flight& flight, int, Compute* values) const { convert(flight, values); }
};

template<typename T, typename Compute, int pack_size, bool apart>
struct RowStore<StagedStore<T, Compute>, pack_size, apart> {
  using Flight = Nothing;
  static constexpr int words = 0;
  T* start;

  __device__ RowStore(const StagedStore<T, Compute>& store, long long row)
      : start(store.staged + static_cast<int>(row) * store.row_size) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
  __device__ void store(const Compute* values, const Flight&, int col, bool wanted) const {
    Pack<T, pack_size> pack;
    round_to(pack, values);
    if (wanted) { reinterpret_cast<Pack<T, pack_size>*>(start + col)->word = pack.word; }
  }
};

// The same load or store on a tile.
template<class Given, bool stages>
struct OnTile;
template<typename T, typename Compute, bool stages>
struct OnTile<DirectLoad<T, Compute>, stages> {
  using type = StagedLoad<T, Compute>;
  template<class Tile>
  __device__ static type of(const DirectLoad<T, Compute>&, const Tile& tile, int input) {
    return {tile.staged[input], tile.cols};
  }
};
template<typename T, typename Compute, bool stages>
struct OnTile<DirectStore<T, Compute>, stages> {
  using type = StagedStore<T, Compute>;
  template<class Tile>
  __device__ static type of(const DirectStore<T, Compute>&, const Tile& tile, int) {
    return {tile.staged[0], tile.cols};
  }
};
template<typename Compute, class Inner, bool stages>
struct OnTile<ScaleLoad<Compute, Inner>, stages> {
  using type = ScaleLoad<Compute, typename OnTile<Inner, stages>::type>;
  template<class Tile>
  __device__ static type of(const ScaleLoad<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner, stages>::of(given.inner, tile, input), given.scale};
  }
};
template<typename Element, int dimensions, bool along_row, bool staged>
struct OperandOnTile {
  using type = TileOperand<Element, dimensions, along_row>;
  template<class Tile>
  __device__ static type of(const Broadcast<Element, dimensions, along_row>& given, const Tile& tile, const Element*) {
    return type(given, tile.first_row);
  }
};
template<typename Element>
struct OperandOnTile<Element, 1, true, true> {
  using type = StagedOperand<Element>;
  template<class Tile>
  __device__ static type of(const Broadcast<Element, 1, true>&, const Tile& tile, const Element* staged) {
    return {staged, tile.cols};
  }
};
template<typename Compute, class Inner, typename Element, int dimensions, bool along_row, bool stages>
struct OnTile<BiasLoad<Compute, Inner, Element, Broadcast<Element, dimensions, along_row>>, stages> {
  using Given = BiasLoad<Compute, Inner, Element, Broadcast<Element, dimensions, along_row>>;
  using Bias = OperandOnTile<Element, dimensions, along_row, stages>;
  using type = BiasLoad<Compute, typename OnTile<Inner, stages>::type, Element, typename Bias::type>;
  template<class Tile>
  __device__ static type of(const Given& given, const Tile& tile, int input) {
    return {OnTile<Inner, stages>::of(given.inner, tile, input), Bias::of(given.bias, tile, tile.staged_bias)};
  }
};
template<typename Compute, class Inner, int dimensions, bool along_row, bool stages>
struct OnTile<MaskLoad<Compute, Inner, Broadcast<unsigned char, dimensions, along_row>>, stages> {
  using Given = MaskLoad<Compute, Inner, Broadcast<unsigned char, dimensions, along_row>>;
  using Mask = OperandOnTile<unsigned char, dimensions, along_row, stages>;
  using type = MaskLoad<Compute, typename OnTile<Inner, stages>::type, typename Mask::type>;
  template<class Tile>
  __device__ static type of(const Given& given, const Tile& tile, int input) {
    return {
        OnTile<Inner, stages>::of(given.inner, tile, input), Mask::of(given.mask, tile, tile.staged_mask), given.fill};
  }
};
template<typename Compute, class Inner, bool stages>
struct OnTile<CausalLoad<Compute, Inner>, stages> {
  using type = CausalTileLoad<Compute, typename OnTile<Inner, stages>::type>;
  template<class Tile>
  __device__ static type of(const CausalLoad<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner, stages>::of(given.inner, tile, input), TileDiagonal(given, tile.first_row), given.fill};
  }
};
template<typename Compute, class Inner, bool stages>
struct OnTile<ScaleStore<Compute, Inner>, stages> {
  using type = ScaleStore<Compute, typename OnTile<Inner, stages>::type>;
  template<class Tile>
  __device__ static type of(const ScaleStore<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner, stages>::of(given.inner, tile, input), given.scale};
  }
};
template<typename Compute, class Inner, int dimensions, bool along_row, bool stages>
struct OnTile<MaskStore<Compute, Inner, Broadcast<unsigned char, dimensions, along_row>>, stages> {
  using Given = MaskStore<Compute, Inner, Broadcast<unsigned char, dimensions, along_row>>;
  using Mask = OperandOnTile<unsigned char, dimensions, along_row, stages>;
  using type = MaskStore<Compute, typename OnTile<Inner, stages>::type, typename Mask::type>;
  template<class Tile>
  __device__ static type of(const Given& given, const Tile& tile, int input) {
    return {OnTile<Inner, stages>::of(given.inner, tile, input), Mask::of(given.mask, tile, tile.staged_mask)};
  }
};
template<typename Compute, class Inner, bool stages>
struct OnTile<CausalStore<Compute, Inner>, stages> {
  using type = CausalTileStore<Compute, typename OnTile<Inner, stages>::type>;
  template<class Tile>
  __device__ static type of(const CausalStore<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner, stages>::of(given.inner, tile, input), TileDiagonal(given, tile.first_row)};
  }
};
// What dropout zeroes is 0 in the tile before rows are taken.
template<typename Compute, class Inner, bool stages>
struct OnTile<DropoutLoad<Compute, Inner>, stages> {
  using type = ScaleLoad<Compute, typename OnTile<Inner, stages>::type>;
  template<class Tile>
  __device__ static type of(const DropoutLoad<Compute, Inner>& given, const Tile& tile, int input) {
    return {OnTile<Inner, stages>::of(given.inner, tile, input), given.dropout.scale};
  }
};
template<typename Compute, class Whole, class Dropped, bool stages>
struct OnTile<DropoutStore<Compute, Whole, Dropped>, stages> {
  using type = typename OnTile<Whole, stages>::type;
  template<class Tile>
  __device__ static type of(const DropoutStore<Compute, Whole, Dropped>& given, const Tile& tile, int input) {
    return OnTile<Whole, stages>::of(given.result, tile, input);
  }
};

// Steps through packs of a tile, `step` elements apart, and says whether a causal load needs them.
struct NeededPacks {
  TileDiagonal diagonal;
  int cols;
  int row, col;              // of the pack's first element
  int step_rows, step_cols;  // of a step

  __device__ NeededPacks(const TileDiagonal& diagonal, int cols, int at, int step)
      : diagonal(diagonal), cols(cols), row(at / static_cast<unsigned int>(cols)), col(at - row * cols),
        step_rows(step / static_cast<unsigned int>(cols)), step_cols(step - step_rows * cols) {}
  // Without branches, so that nothing of the diagonal is computed again for each pack.
  __device__ bool needs(int count) const { return (col + count > cols) | (col <= diagonal.last_column(row)); }
  __device__ void advance() {
    row += step_rows;
    col += step_cols;
    if (col >= cols) {
      col -= cols;
      ++row;
    }
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
    convert(pack, values);
    dropout.template apply<count>(values, 0, start + at);
    round_to(pack, values);
  }
};

// The operator of a row. With one element it needs no exponential: x - x is 0 or NaN.
template<class Operator, bool one_element>
struct OfRow : Operator {};
template<typename Compute, Algorithm which>
struct OfRow<Forward<Compute, which>, true> {
  struct Nothing {};
  template<int width, class Fragment>
  static __device__ Nothing reduce_group(Fragment&) {
    return {};
  }
  struct Result {
    __device__ explicit Result(Nothing) {}
    __device__ Compute operator()(const Compute* x) const {
      return x[0] - x[0] + Compute(which == Algorithm::softmax);
    }
  };
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
    bool apart, bool stages>
struct FusedTile : Tile<Operator, T, pack_size, vector_size, vectors, odd, width, slabs> {
  using Base = Tile<Operator, T, pack_size, vector_size, vectors, odd, width, slabs>;
  using Compute = typename Operator::Compute;
  static constexpr int in_vectors = vectors * vector_size;
  static_assert(2 * Base::rows <= TileDimension::most, "rows of a tile");
  using RowOperator = OfRow<Operator, Base::row_elements * width == 1>;

  long long first_row;
  int lane_col;  // of this lane's first vector
  T* staged_bias;
  unsigned char* staged_mask;

  // The compiler shall not know that lane_col is less than a row of the lanes' vectors is wide: it would take "or" for
  // "+" in each column and could not add it to what the column is compared with.
  __device__ void set_lane(int own) {
    this->lane = own;
    lane_col = own % width * vector_size;
    asm("" : "+r"(lane_col));
  }

  template<bool full, class First, class Second, class Store>
  __device__ void work(const First& first, const Second& second, const Store& store, int tile_rows) {
    const long long start = first_row * this->cols;
    const int elements = tile_rows * this->cols;
    const auto from = OnTile<First, stages>::of(first, *this, 0);
    if constexpr (stages && Stages<Store>::mask) { copy<full>(staged_mask, mask_of(store) + start, elements); }
    if constexpr (stages && reads_all<First>) {
      if constexpr (Stages<First>::bias) { copy<full>(staged_bias, bias_of(first) + start, elements); }
      if constexpr (Stages<First>::mask) { copy<full>(staged_mask, mask_of(first) + start, elements); }
    }
    if constexpr (Operator::inputs > 1) {
      const T* const source[] = {source_of(first), source_of(second)};
      this->template load<full>(source, start, elements);
    } else if constexpr (reads_all<First>) {
      const T* const source[] = {source_of(first)};
      this->template load<full>(source, start, elements);
    } else {
      load_needed(first, from.diagonal, start, elements);
    }
    __syncwarp();
    if constexpr (drops<First>) {
      drop(first.dropout, start, elements);
      __syncwarp();
    }
    constexpr int operands = stages * (Stages<First>::bias + (Stages<First>::mask || Stages<Store>::mask));
    constexpr int at_once = full ? slabs_at_once<operands>() : 1;
    compute<full, at_once>(from, second_on_tile(second), OnTile<Store, stages>::of(store, *this, 0), tile_rows);
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
  // Starts the copies of an operand's elements.
  template<bool full, typename Element>
  __device__ void copy(Element* to, const Element* from, int elements) const {
    const int packs = static_cast<unsigned int>(elements) / pack_size;
    auto* const shared = reinterpret_cast<Pack<Element, pack_size>*>(to) + this->lane;
    from += this->lane * pack_size;
#pragma unroll
    for (int j = 0; j < Base::packs_per_lane; ++j) {
      copy_pack(this->template has_pack<full>(j, packs), shared + j * 32, from + j * 32 * pack_size);
    }
    const int left = elements - packs * pack_size;
    if (!full && this->lane < left) {
      from += (packs - this->lane) * pack_size + this->lane;
      to[packs * pack_size + this->lane] = *from;
    }
  }
  template<typename Element>
  __device__ static void copy_pack(bool wanted, Pack<Element, pack_size>* shared, const Element* address) {
    if constexpr (sizeof(*shared) >= 4) {
      copy_async_if(wanted, shared, address);
    } else {
      if (wanted) { shared->word = reinterpret_cast<const Pack<Element, pack_size>*>(address)->word; }
    }
  }

  // As load() and copy(), without the packs that the rows do not need.
  template<class First>
  __device__ void load_needed(const First& first, const TileDiagonal& diagonal, long long start, int elements) {
    const int packs = static_cast<unsigned int>(elements) / pack_size;
    NeededPacks needed(diagonal, this->cols, this->lane * pack_size, 32 * pack_size);
#pragma unroll 2
    for (int pack = this->lane; pack < packs; pack += 32, needed.advance()) {
      const bool wanted = needed.needs(pack_size);
      copy_one(wanted, this->staged[0], source_of(first) + start, pack);
      if constexpr (stages && Stages<First>::bias) { copy_one(wanted, staged_bias, bias_of(first) + start, pack); }
      if constexpr (stages && Stages<First>::mask) { copy_one(wanted, staged_mask, mask_of(first) + start, pack); }
    }
#pragma unroll 1
    for (int at = packs * pack_size + this->lane; at < elements; at += 32) {
      this->staged[0][at] = source_of(first)[start + at];
      if constexpr (stages && Stages<First>::bias) { staged_bias[at] = bias_of(first)[start + at]; }
      if constexpr (stages && Stages<First>::mask) { staged_mask[at] = mask_of(first)[start + at]; }
    }
    if constexpr (Base::copies_async) { wait_all_copies(); }
  }
  template<typename Element>
  __device__ static void copy_one(bool wanted, Element* to, const Element* from, int pack) {
    copy_pack(wanted, reinterpret_cast<Pack<Element, pack_size>*>(to) + pack, from + pack * pack_size);
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

  // As in fast_tile. A lane takes its elements of staged operands at the same time.
  template<int operands>
  __device__ static constexpr int slabs_at_once() {
    int count = slabs;
    while (count > 1 && count * (Base::row_words + operands * Base::row_elements) > fast_tile_words) { count /= 2; }
    return count;
  }

  // The rows of this lane's group, as in fast_tile.
  template<bool full, int at_once, class First, class Second, class Store>
  __device__ void compute(const First& first, const Second& second, const Store& store, int tile_rows) {
#pragma unroll 1
    for (int r = 0; r < width; ++r) {
#pragma unroll 1
      for (int slab = 0; slab < slabs; slab += at_once) {
        const int row = slab * 32 + this->lane / width * width + r;
        rows_at<full, at_once>(first, second, store, row, tile_rows);
      }
    }
  }
  __device__ auto second_on_tile(NoLoad none) const { return none; }
  template<class Second>
  __device__ auto second_on_tile(const Second& second) const {
    return OnTile<Second, stages>::of(second, *this, 1);
  }

  template<bool full, int at_once, class First, class Second, class Store>
  __device__ void rows_at(const First& first, const Second& second, const Store& store, int row, int tile_rows) {
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int own = row + i * 32;
      const int held = full ? own : min(own, tile_rows - 1);
      TileRow<Operator, First, Second, Store, vector_size, vectors, apart> body(first, second, store, held);
      TileRow<Operator, First, Second, Store, 1, 1, false> single(first, second, store, held);
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
      const typename RowOperator::Result result(RowOperator::template reduce_group<width>(elements));
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
  __device__ int column(int vector) const { return vector * width * vector_size + lane_col; }
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
    int block_size, bool apart, bool stages, class First, class Second, class Store>
__device__ void fused_tile_rows(
    const First& first, const Second& second, const Store& store, long long rows, long long cols) {
  using WarpTile = FusedTile<Operator, T, pack_size, vector_size, vectors, odd, width, slabs, apart, stages>;
  constexpr int words = (WarpTile::most_elements * sizeof(T) + sizeof(uint4) - 1) / sizeof(uint4);
  constexpr int mask_words = (WarpTile::most_elements + sizeof(uint4) - 1) / sizeof(uint4);
  constexpr int of_bias = stages && Stages<First>::bias ? words : 0;
  constexpr int of_mask = stages && (Stages<First>::mask || Stages<Store>::mask) ? mask_words : 0;
  __shared__ uint4 staged[block_size / 32][Operator::inputs * words + of_bias + of_mask];
  uint4* const own = staged[threadIdx.x / 32];
  WarpTile tile;
#pragma unroll
  for (int k = 0; k < Operator::inputs; ++k) { tile.staged[k] = reinterpret_cast<T*>(own + k * words); }
  tile.staged_bias = reinterpret_cast<T*>(own + Operator::inputs * words);
  tile.staged_mask = reinterpret_cast<unsigned char*>(own + Operator::inputs * words + of_bias);
  tile.cols = static_cast<int>(cols);
  tile.set_lane(threadIdx.x % 32);
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
    int width, int slabs, int block_size, int blocks_per_sm, bool apart, bool stages>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    fast_tile_fused(Load load, Store store, long long rows, long long cols) {
  using Operator = Forward<ComputeType<T>, algorithm>;
  fused_tile_rows<Operator, T, pack_size, vector_size, vectors, odd, width, slabs, block_size, apart, stages>(
      load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int vector_size, int vectors, bool odd,
    int width, int slabs, int block_size, int blocks_per_sm, bool apart, bool stages>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    fast_tile_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operator = Backward<Compute, algorithm>;
  fused_tile_rows<Operator, T, pack_size, vector_size, vectors, odd, width, slabs, block_size, apart, stages>(
      dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}
