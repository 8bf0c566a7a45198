// Scale, bias, mask, causal mask and dropout on the fast kernels: what a thread needs of a row is in flight at once.
//
// Idea     The function objects of fused_load.cuh read a pack, use it, and read the next one. RowLoad takes the same
//          objects apart: fetch() only starts the accesses of a pack, under a predicate, and values() computes with
//          what has come. A thread fetches all packs of all operands before it computes with the first. A mask that a
//          gradient's store needs is fetched with the inputs, too.
// Idea     scale * x + bias is not rounded to the element type. So a thread keeps its elements in the compute type, as
//          fast_tile does, and an exponential is taken once.
// Idea     What belongs to a row is computed once per row and thread: where an operand's row begins, the last column of
//          a causal row, an operand's one element. Broadcast::read divides for each pack.
// Traffic  Each element that counts read once, and each result written once. Packs beyond the diagonal are not read.
//          Operands that rows share come from the caches.
// Launch   fast_warp_fused: block 128; any grid. fast_block_fused, fast_cluster_fused: block block_size; any grid, in
//          whole clusters.
// Limits   All arrays start at a multiple of a pack. pack_size divides cols, or the kernel is `unaligned`. An operand
//          of an unaligned row lies as x does, or the kernel has it `apart`. A row has at most packs * width packs,
//          packs * block_size, or packs * (block_size / 8 * 8) for each block of a cluster; head and tail come on top.
//          cols is less than 2^31.
// Source   fused_load.cuh and fused_store.cuh; the kernels are those of fast_warp.cuh and fast_block.cuh.
#pragma once

#include "fast_exchange.cuh"
#include "fast_memory.cuh"
#include "fast_operator.cuh"
#include "fast_row.cuh"
#include "fused_load.cuh"
#include "fused_store.cuh"
#include "lane_elements.cuh"

__device__ inline unsigned int first_word(unsigned char word) { return word; }
__device__ inline unsigned int first_word(unsigned short word) { return word; }
__device__ inline unsigned int first_word(unsigned int word) { return word; }
__device__ inline unsigned int first_word(const uint2& word) { return word.x; }
__device__ inline unsigned int first_word(const uint4& word) { return word.x; }

// What keeps the compiler from using a pack before the last one is asked for: it would save registers, and wait for
// memory once per pack. Each pack leaves a word here. After the last one, close() makes 0 of them, but the compiler
// does not know that. The packs are combined with that 0 before they are used.
struct LastFetch {
  unsigned int mixed = 0;

  __device__ void close(unsigned int zero) { mixed &= zero; }
};

// Starts the access of a pack. It is 0 where it is not wanted.
template<typename T, int pack_size>
__device__ void fetch_if(bool wanted, Pack<T, pack_size>& pack, const T* address, LastFetch& last) {
  pack.word = {};
  load_if(wanted, pack.word, address);
  last.mixed |= first_word(pack.word);
}

// Blocks of an SM, as the compiler makes room for them: 64 registers for a thread, and 48 where few words are in flight
// and hold the elements.
template<typename T, int inputs, class Shape, int block_size>
constexpr int fused_blocks =
    (Shape::packs * (Shape::pack_size * (inputs * sizeof(ComputeType<T>) / 4 + Shape::apart) + 2) + Shape::edges > 31
         ? 1024
         : 1280) /
    block_size;

// Nothing is in flight.
struct Nothing {};

// A row of a Broadcast. If `apart`, its packs begin anywhere, and their elements are loaded one by one.
template<class Operand, int pack_size, bool apart>
struct RowOperand;

template<typename Element, int dimensions, bool along_row, int pack_size, bool apart>
struct RowOperand<Broadcast<Element, dimensions, along_row>, pack_size, apart> {
  static constexpr int at_once = along_row && !apart ? pack_size : 1;
  struct Flight {
    Pack<Element, at_once> pack[along_row ? pack_size / at_once : 1];
  };
  const Element* start;
  Element only;  // of the row, if the operand has one element per row

  __device__ RowOperand(const Broadcast<Element, dimensions, along_row>& operand, long long row) {
    long long offset = 0;
#pragma unroll
    for (int d = dimensions - 1; d > 0; --d) {
      offset += row % operand.sizes[d] * operand.strides[d];
      row /= operand.sizes[d];
    }
    start = operand.elements + offset + row * operand.strides[0];
    if constexpr (!along_row) { only = *start; }
  }
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    if constexpr (along_row) {
#pragma unroll
      for (int i = 0; i < pack_size / at_once; ++i) {
        fetch_if(wanted, flight.pack[i], start + col + i * at_once, last);
      }
    }
  }
  __device__ Element element(const Flight& flight, int i) const {
    if constexpr (along_row) { return flight.pack[i / at_once].elem[i % at_once]; }
    return only;
  }
};

// The last column that a causal row keeps, as far as an int can say it.
template<class Function>
__device__ int last_column(const Function& causal, long long row) {
  const long long last = row % causal.matrix_rows + causal.diagonal;
  return static_cast<int>(max(-1ll, min(last, 0x7fffffffll)));
}

// A row of a load. fetch() starts the accesses of the pack at `col`, and values() gives its elements.
template<class Load, int pack_size, bool apart>
struct RowLoad;

// There is no second input.
struct NoLoad {};
template<int pack_size, bool apart>
struct RowLoad<NoLoad, pack_size, apart> {
  using Flight = Nothing;
  __device__ RowLoad(NoLoad, long long) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
};

template<typename T, typename Compute, int pack_size, bool apart>
struct RowLoad<DirectLoad<T, Compute>, pack_size, apart> {
  using Flight = Pack<T, pack_size>;
  const T* start;

  __device__ RowLoad(const DirectLoad<T, Compute>& load, long long row)
      : start(load.source + row * load.row_size) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    fetch_if(wanted, flight, start + col, last);
  }
  __device__ void values(Flight& flight, int, Compute* values, const LastFetch& last) const {
    xor_word(flight.word, last.mixed);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] = static_cast<Compute>(flight.elem[i]); }
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowLoad<ScaleLoad<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowLoad<Inner, pack_size, apart>::Flight;
  RowLoad<Inner, pack_size, apart> inner;
  Compute scale;

  __device__ RowLoad(const ScaleLoad<Compute, Inner>& load, long long row)
      : inner(load.inner, row), scale(load.scale) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted, last);
  }
  __device__ void values(Flight& flight, int col, Compute* values, const LastFetch& last) const {
    inner.values(flight, col, values, last);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] *= scale; }
  }
};

template<typename Compute, typename Inner, typename Element, typename Bias, int pack_size, bool apart>
struct RowLoad<BiasLoad<Compute, Inner, Element, Bias>, pack_size, apart> {
  struct Flight {
    typename RowLoad<Inner, pack_size, apart>::Flight inner;
    typename RowOperand<Bias, pack_size, apart>::Flight bias;
  };
  RowLoad<Inner, pack_size, apart> inner;
  RowOperand<Bias, pack_size, apart> bias;

  __device__ RowLoad(const BiasLoad<Compute, Inner, Element, Bias>& load, long long row)
      : inner(load.inner, row), bias(load.bias, row) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight.inner, col, wanted, last);
    bias.fetch(flight.bias, col, wanted, last);
  }
  __device__ void values(Flight& flight, int col, Compute* values, const LastFetch& last) const {
    inner.values(flight.inner, col, values, last);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] += static_cast<Compute>(bias.element(flight.bias, i)); }
  }
};

template<typename Compute, typename Inner, typename Mask, int pack_size, bool apart>
struct RowLoad<MaskLoad<Compute, Inner, Mask>, pack_size, apart> {
  struct Flight {
    typename RowLoad<Inner, pack_size, apart>::Flight inner;
    typename RowOperand<Mask, pack_size, apart>::Flight mask;
  };
  RowLoad<Inner, pack_size, apart> inner;
  RowOperand<Mask, pack_size, apart> mask;
  Compute fill;

  __device__ RowLoad(const MaskLoad<Compute, Inner, Mask>& load, long long row)
      : inner(load.inner, row), mask(load.mask, row), fill(load.fill) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight.inner, col, wanted, last);
    mask.fetch(flight.mask, col, wanted, last);
  }
  __device__ void values(Flight& flight, int col, Compute* values, const LastFetch& last) const {
    inner.values(flight.inner, col, values, last);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] = mask.element(flight.mask, i) ? values[i] : fill; }
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowLoad<CausalLoad<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowLoad<Inner, pack_size, apart>::Flight;
  RowLoad<Inner, pack_size, apart> inner;
  int last_col;
  Compute fill;

  __device__ RowLoad(const CausalLoad<Compute, Inner>& load, long long row)
      : inner(load.inner, row), last_col(last_column(load, row)), fill(load.fill) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted && col <= last_col, last);
  }
  __device__ void values(Flight& flight, int col, Compute* values, const LastFetch& last) const {
    inner.values(flight, col, values, last);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] = col + i <= last_col ? values[i] : fill; }
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowLoad<DropoutLoad<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowLoad<Inner, pack_size, apart>::Flight;
  RowLoad<Inner, pack_size, apart> inner;
  Dropout<Compute> dropout;
  long long row;

  __device__ RowLoad(const DropoutLoad<Compute, Inner>& load, long long row)
      : inner(load.inner, row), dropout(load.dropout), row(row) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted, last);
  }
  __device__ void values(Flight& flight, int col, Compute* values, const LastFetch& last) const {
    inner.values(flight, col, values, last);
    dropout.template apply<pack_size>(values, row, col);
  }
};

// A row of a store. fetch() starts the accesses of what it needs beside the results.
template<class Store, int pack_size, bool apart>
struct RowStore;

template<typename T, typename Compute, int pack_size, bool apart>
struct RowStore<DirectStore<T, Compute>, pack_size, apart> {
  using Flight = Nothing;
  T* start;

  __device__ RowStore(const DirectStore<T, Compute>& store, long long row)
      : start(store.destination + row * store.row_size) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
  __device__ void store(const Compute* values, const Flight&, int col, bool wanted) const {
    Pack<T, pack_size> pack;
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { pack.elem[i] = static_cast<T>(values[i]); }
    store_if(wanted, start + col, pack.word);
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowStore<ScaleStore<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowStore<Inner, pack_size, apart>::Flight;
  RowStore<Inner, pack_size, apart> inner;
  Compute scale;

  __device__ RowStore(const ScaleStore<Compute, Inner>& store, long long row)
      : inner(store.inner, row), scale(store.scale) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted, last);
  }
  __device__ void store(const Compute* values, const Flight& flight, int col, bool wanted) const {
    Compute scaled[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { scaled[i] = values[i] * scale; }
    inner.store(scaled, flight, col, wanted);
  }
};

template<typename Compute, typename Inner, typename Mask, int pack_size, bool apart>
struct RowStore<MaskStore<Compute, Inner, Mask>, pack_size, apart> {
  struct Flight {
    typename RowStore<Inner, pack_size, apart>::Flight inner;
    typename RowOperand<Mask, pack_size, apart>::Flight mask;
  };
  RowStore<Inner, pack_size, apart> inner;
  RowOperand<Mask, pack_size, apart> mask;

  __device__ RowStore(const MaskStore<Compute, Inner, Mask>& store, long long row)
      : inner(store.inner, row), mask(store.mask, row) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight.inner, col, wanted, last);
    mask.fetch(flight.mask, col, wanted, last);
  }
  __device__ void store(const Compute* values, const Flight& flight, int col, bool wanted) const {
    Compute masked[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { masked[i] = mask.element(flight.mask, i) ? values[i] : Compute(0); }
    inner.store(masked, flight.inner, col, wanted);
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowStore<CausalStore<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowStore<Inner, pack_size, apart>::Flight;
  RowStore<Inner, pack_size, apart> inner;
  int last_col;

  __device__ RowStore(const CausalStore<Compute, Inner>& store, long long row)
      : inner(store.inner, row), last_col(last_column(store, row)) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted, last);
  }
  __device__ void store(const Compute* values, const Flight& flight, int col, bool wanted) const {
    Compute masked[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { masked[i] = col + i <= last_col ? values[i] : Compute(0); }
    inner.store(masked, flight, col, wanted);
  }
};

template<typename Compute, typename Whole, typename Dropped, int pack_size, bool apart>
struct RowStore<DropoutStore<Compute, Whole, Dropped>, pack_size, apart> {
  using Flight = Nothing;
  RowStore<Whole, pack_size, apart> result;
  RowStore<Dropped, pack_size, apart> dropped;
  Dropout<Compute> dropout;
  long long row;

  __device__ RowStore(const DropoutStore<Compute, Whole, Dropped>& store, long long row)
      : result(store.result, row), dropped(store.dropped, row), dropout(store.dropout), row(row) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
  __device__ void store(const Compute* values, const Flight& flight, int col, bool wanted) const {
    result.store(values, flight, col, wanted);
    Compute kept[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { kept[i] = values[i]; }
    dropout.template apply<pack_size>(kept, row, col);
    dropped.store(kept, flight, col, wanted);
  }
};

// The array that a load reads in the end.
template<typename T, typename Compute>
__device__ const T* source_of(const DirectLoad<T, Compute>& load) {
  return load.source;
}
template<class Load>
__device__ auto source_of(const Load& load) {
  return source_of(load.inner);
}

// How a row lies over `stride` threads with `packs` packs each. If `unaligned`, it has a head and a tail besides
// (fast_row.cuh). If `apart`, rows share an operand, and so it begins elsewhere in a pack than they do.
template<typename T, int pack_size_, int packs_, int stride_, bool unaligned, bool apart_>
struct Division {
  using Element = T;
  static constexpr int pack_size = pack_size_;
  static constexpr int packs = packs_;
  static constexpr int stride = stride_;
  static constexpr bool apart = unaligned && apart_;
  // Elements of head and tail that a thread has at most.
  static constexpr int edges = unaligned ? (body_alignment<T, pack_size> + pack_size - 2 + stride - 1) / stride : 0;

  __device__ static ThreadSlice slice(
      const T* array, long long row, long long rows, long long cols, int thread, int block, int blocks) {
    return thread_slice<pack_size, unaligned>(array, row, rows, cols, thread, block, blocks);
  }
};

// Where the packs of a thread lie, and its elements of head and tail: the column of the j-th, and whether there is one.
template<class Shape>
struct BodyPlaces {
  ThreadSlice slice;

  __device__ int col(int j) const { return slice.head + (slice.first + j * Shape::stride) * Shape::pack_size; }
  __device__ bool wanted(int j) const { return slice.first + j * Shape::stride < slice.stop; }
};
template<class Shape>
struct EdgePlaces {
  ThreadSlice slice;

  __device__ int col(int j) const {
    const int which = slice.first_head_tail + j * Shape::stride;
    return which + (which < slice.head ? 0 : slice.body_packs * Shape::pack_size);
  }
  __device__ bool wanted(int j) const { return slice.first_head_tail + j * Shape::stride < slice.head_tail; }
};

// `count` packs of a thread.
template<class Operator, class First, class Second, class Store, class Places, int pack_size, int count, bool apart>
struct FusedPacks {
  using Compute = typename Operator::Compute;

  Places places;
  RowLoad<First, pack_size, apart> first;
  RowLoad<Second, pack_size, apart> second;
  RowStore<Store, pack_size, apart> target;
  typename RowLoad<First, pack_size, apart>::Flight of_first[count];
  typename RowLoad<Second, pack_size, apart>::Flight of_second[count];
  typename RowStore<Store, pack_size, apart>::Flight of_target[count];

  __device__ FusedPacks(
      const Places& places, const First& first, const Second& second, const Store& store, long long row)
      : places(places), first(first, row), second(second, row), target(store, row) {}

  __device__ void fetch(LastFetch& last) {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      first.fetch(of_first[j], places.col(j), places.wanted(j), last);
      second.fetch(of_second[j], places.col(j), places.wanted(j), last);
      target.fetch(of_target[j], places.col(j), places.wanted(j), last);
    }
  }
  // Gives the elements from `start` on their values.
  template<int elements>
  __device__ void give(LaneElements<Operator, elements>& to, int start, const LastFetch& last) {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      const int from = start + j * pack_size;
      first.values(of_first[j], places.col(j), to.elem[0] + from, last);
      if constexpr (Operator::inputs > 1) { second.values(of_second[j], places.col(j), to.elem[1] + from, last); }
#pragma unroll
      for (int i = from; i < from + pack_size; ++i) {
#pragma unroll
        for (int k = 0; k < Operator::inputs; ++k) {
          to.elem[k][i] = places.wanted(j) ? to.elem[k][i] : Operator::filler();
        }
      }
    }
  }
  __device__ void store(const Compute* values) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      target.store(values + j * pack_size, of_target[j], places.col(j), places.wanted(j));
    }
  }
};

// What a thread keeps of a row.
template<class Operator, class First, class Second, class Store, class Shape>
struct FusedRow {
  static constexpr int in_body = Shape::packs * Shape::pack_size;
  static constexpr int edges = Shape::edges;

  LaneElements<Operator, in_body + edges> elements;
  FusedPacks<
      Operator, First, Second, Store, BodyPlaces<Shape>, Shape::pack_size, Shape::packs, Shape::apart> body;
  FusedPacks<Operator, First, Second, Store, EdgePlaces<Shape>, 1, edges ? edges : 1, false> ends;

  // `zero` is 0, but the compiler does not know that.
  __device__ FusedRow(
      const ThreadSlice& slice, const First& first, const Second& second, const Store& store, long long row,
      unsigned int zero)
      : body({slice}, first, second, store, row), ends({slice}, first, second, store, row) {
    LastFetch last;
    body.fetch(last);
    if constexpr (edges > 0) { ends.fetch(last); }
    last.close(Shape::packs + edges > 1 ? zero : 0);
    body.give(elements, 0, last);
    if constexpr (edges > 0) { ends.give(elements, in_body, last); }
  }

  template<class Result>
  __device__ void store(const Result& result) {
    elements.template visit<true>([&](typename Operator::Compute* values) { values[0] = result(values); });
    body.store(elements.elem[0]);
    if constexpr (edges > 0) { ends.store(elements.elem[0] + in_body); }
  }
};

// As fast_warp_rows: the lanes of a group own a row.
template<class Operator, class Shape, class First, class Second, class Store>
__device__ void fused_warp_rows(
    const First& first, const Second& second, const Store& store, long long rows, long long cols) {
  constexpr int width = Shape::stride;
  constexpr int groups = 32 / width;
  const int lane = threadIdx.x % width;
  const int group = threadIdx.x % 32 / width;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const long long warps = static_cast<long long>(gridDim.x) * blockDim.x / 32;

  // Lanes shuffle together. A group beyond the last row keeps nothing of that row.
  for (long long start = warp * groups; start < rows; start += warps * groups) {
    const long long row = start + group;
    const ThreadSlice slice = Shape::slice(source_of(first), row, rows, cols, lane, 0, 1);
    FusedRow<Operator, First, Second, Store, Shape> held(
        slice, first, second, store, min(row, rows - 1), static_cast<unsigned int>(rows >> 63));
    const auto statistic = Operator::template reduce_group<width>(held.elements);
    held.store(typename Operator::Result(statistic));
  }
}

// As fast_block_rows: `cluster` blocks share a row.
template<class Operator, class Shape, int cluster, class First, class Second, class Store>
__device__ void fused_block_rows(
    const First& first, const Second& second, const Store& store, long long rows, long long cols) {
  const Exchange<Operator, Shape::stride, cluster> blocks;
  const int rank = blockIdx.x % cluster;

  blocks.cluster_arrive();
  int iteration = 0;
  for (long long row = blockIdx.x / cluster; row < rows; row += gridDim.x / cluster, ++iteration) {
    const ThreadSlice slice = Shape::slice(source_of(first), row, rows, cols, threadIdx.x, rank, cluster);
    FusedRow<Operator, First, Second, Store, Shape> held(
        slice, first, second, store, row, static_cast<unsigned int>(rows >> 63));
    const auto own = Operator::template reduce_group<32>(held.elements);
    if (iteration == 0) { blocks.cluster_wait(); }
    held.store(typename Operator::Result(own, blocks.exchange(own, iteration)));
  }
  if (iteration == 0) { blocks.cluster_wait(); }
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int width,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(128, fused_blocks<T, 1, Division<T, pack_size, packs, width, unaligned, apart>, 128>)
    fast_warp_fused(Load load, Store store, long long rows, long long cols) {
  using Operator = Forward<ComputeType<T>, algorithm>;
  using Shape = Division<T, pack_size, packs, width, unaligned, apart>;
  fused_warp_rows<Operator, Shape>(load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int width,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(128, fused_blocks<T, 2, Division<T, pack_size, packs, width, unaligned, apart>, 128>)
    fast_warp_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operator = Backward<Compute, algorithm>;
  using Shape = Division<T, pack_size, packs, width, unaligned, apart>;
  fused_warp_rows<Operator, Shape>(dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(
        block_size, fused_blocks<T, 1, Division<T, pack_size, packs, block_size, unaligned, apart>, block_size>)
    fast_block_fused(Load load, Store store, long long rows, long long cols) {
  using Operator = Forward<ComputeType<T>, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operator, Shape, 1>(load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(
        block_size, fused_blocks<T, 2, Division<T, pack_size, packs, block_size, unaligned, apart>, block_size>)
    fast_block_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operator = Backward<Compute, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operator, Shape, 1>(dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size, int cluster,
    bool unaligned, bool apart>
__global__ void SOFTLAB_CLUSTER(cluster)
    __launch_bounds__(
        block_size, fused_blocks<T, 1, Division<T, pack_size, packs, block_size, unaligned, apart>, block_size>)
    fast_cluster_fused(Load load, Store store, long long rows, long long cols) {
  using Operator = Forward<ComputeType<T>, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operator, Shape, cluster>(load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size, int cluster,
    bool unaligned, bool apart>
__global__ void SOFTLAB_CLUSTER(cluster)
    __launch_bounds__(
        block_size, fused_blocks<T, 2, Division<T, pack_size, packs, block_size, unaligned, apart>, block_size>)
    fast_cluster_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operator = Backward<Compute, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operator, Shape, cluster>(dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}
