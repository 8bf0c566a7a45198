// Scale, bias, mask, causal mask and dropout on the fast kernels: what a thread needs of a row is in flight at once.
//
// Idea     The function objects of fused_load.cuh read a pack, use it, and read the next one. RowLoad takes the same
//          objects apart: fetch() only starts the accesses of a pack, under a predicate, and values() computes with
//          what has come. A thread fetches all packs of all operands before it computes with the first. A mask that a
//          gradient's store needs is fetched with the inputs, too.
// Idea     scale * x + bias is not rounded to the element type. A thread that has the values of its elements in the
//          compute type takes an exponential once, as in fast_tile. 16-bit elements take half of these registers as they
//          came. So where no operand has an element for each, a thread keeps them so, and computes the values again at
//          each visit.
// Idea     A bias that matrices share has one row for many. Blocks that need the same row follow one another, so memory
//          reads it once.
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

template<typename T>
constexpr bool is_bfloat16 = false;
template<>
constexpr bool is_bfloat16<__nv_bfloat16> = true;

// The elements of a pack as numbers. The upper half of a word is a bfloat16's number already, but for the lower half.
template<typename Compute, typename T, int pack_size>
__device__ void convert(const Pack<T, pack_size>& pack, Compute* values) {
  if constexpr (is_bfloat16<T> && pack_size % 2 == 0) {
    const auto* const words = reinterpret_cast<const unsigned int*>(&pack);
#pragma unroll
    for (int i = 0; i < pack_size / 2; ++i) {
      values[2 * i] = __uint_as_float(words[i] << 16);
      values[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
  } else {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] = static_cast<Compute>(pack.elem[i]); }
  }
}

// Numbers as the elements of a pack. One instruction rounds two numbers to 16 bits and packs them; the compiler does
// not find it where a pack has more than two.
__device__ inline __half2 rounded_pair(float low, float high, __half) { return __floats2half2_rn(low, high); }
__device__ inline __nv_bfloat162 rounded_pair(float low, float high, __nv_bfloat16) {
  return __floats2bfloat162_rn(low, high);
}
template<typename Compute, typename T, int pack_size>
__device__ void round_to(Pack<T, pack_size>& pack, const Compute* values) {
  if constexpr (sizeof(T) == 2 && pack_size % 2 == 0) {
    using Pair = decltype(rounded_pair(0.0f, 0.0f, T()));
    auto* const pairs = reinterpret_cast<Pair*>(&pack);
#pragma unroll
    for (int i = 0; i < pack_size / 2; ++i) { pairs[i] = rounded_pair(values[2 * i], values[2 * i + 1], T()); }
  } else {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { pack.elem[i] = static_cast<T>(values[i]); }
  }
}

// The smallest element of a pack of pairs; NaN is larger than any number.
template<typename Pair, typename T>
__device__ float smallest_of_pairs(const Pack<T, 8>& pack) {
  const Pair* pair = reinterpret_cast<const Pair*>(&pack);
  const Pair smallest = __hmin2(__hmin2(pair[0], pair[1]), __hmin2(pair[2], pair[3]));
  return fmin(__low2float(smallest), __high2float(smallest));
}
__device__ inline float smallest_of(const Pack<__half, 8>& pack) { return smallest_of_pairs<__half2>(pack); }
__device__ inline float smallest_of(const Pack<__nv_bfloat16, 8>& pack) {
  return smallest_of_pairs<__nv_bfloat162>(pack);
}

// Nothing is in flight.
struct Nothing {};

// A pack of an operand along the row. If `apart`, it begins anywhere, and each element is loaded on its own.
template<
    typename Element, int pack_size, bool apart,
    bool in_words = apart && sizeof(Element) < 4 && pack_size % 4 == 0>
struct OperandPack {
  static constexpr int at_once = apart ? 1 : pack_size;
  static constexpr int words = pack_size / at_once * ((at_once * sizeof(Element) + 3) / 4);  // registers
  Pack<Element, at_once> part[pack_size / at_once];

  __device__ void fetch(const Element* address, bool wanted, LastFetch& last) {
#pragma unroll
    for (int i = 0; i < pack_size / at_once; ++i) { fetch_if(wanted, part[i], address + i * at_once, last); }
  }
  __device__ void launder(unsigned int bits) {
    if constexpr (at_once > 1) { xor_word(part[0].word, bits); }
  }
  __device__ Element element(const Element*, int i) const { return part[i / at_once].elem[i % at_once]; }
};
// The same for elements of less than 4 bytes, four or more: the words that have them are loaded, one more than a pack
// fills. A shift takes the elements out of two neighbouring words.
template<typename Element, int pack_size>
struct OperandPack<Element, pack_size, true, true> {
  static constexpr int in_word = 4 / sizeof(Element);
  static constexpr int words = pack_size / in_word + 1;
  Pack<unsigned int, 1> part[words];

  __device__ void fetch(const Element* address, bool wanted, LastFetch& last) {
    const auto bits = reinterpret_cast<unsigned long long>(address);
    const auto* const first = reinterpret_cast<const unsigned int*>(bits - bits % 4);
#pragma unroll
    for (int i = 0; i < words; ++i) { fetch_if(wanted, part[i], first + i, last); }
  }
  __device__ void launder(unsigned int) {}
  __device__ Element element(const Element* address, int i) const {
    const auto shift = static_cast<unsigned int>(reinterpret_cast<unsigned long long>(address)) % 4 * 8;
    Pack<Element, in_word> pack;
    pack.word = __funnelshift_r(part[i / in_word].word, part[i / in_word + 1].word, shift);
    return pack.elem[i % in_word];
  }
};

// Where the row of an operand begins.
template<typename Element, int dimensions, bool along_row>
__device__ const Element* row_start(const Broadcast<Element, dimensions, along_row>& operand, long long row) {
  long long offset = 0;
#pragma unroll
  for (int d = dimensions - 1; d > 0; --d) {
    offset += row % operand.sizes[d] * operand.strides[d];
    row /= operand.sizes[d];
  }
  return operand.elements + offset + row * operand.strides[0];
}

// A row of a Broadcast.
template<class Operand, int pack_size, bool apart>
struct RowOperand;

template<typename Element, int dimensions, int pack_size, bool apart>
struct RowOperand<Broadcast<Element, dimensions, true>, pack_size, apart> {
  using Flight = OperandPack<Element, pack_size, apart>;
  static constexpr int words = Flight::words;
  const Element* start;

  __device__ explicit RowOperand(const Element* start) : start(start) {}
  __device__ RowOperand(const Broadcast<Element, dimensions, true>& operand, long long row)
      : RowOperand(row_start(operand, row)) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    flight.fetch(start + col, wanted, last);
  }
  __device__ void launder(Flight& flight, unsigned int bits) const { flight.launder(bits); }
  __device__ Element element(const Flight& flight, int col, int i) const { return flight.element(start + col, i); }
};
// The operand has one element per row.
template<typename Element, int dimensions, int pack_size, bool apart>
struct RowOperand<Broadcast<Element, dimensions, false>, pack_size, apart> {
  using Flight = Nothing;
  static constexpr int words = 1;
  Element only;

  __device__ explicit RowOperand(const Element* start) : only(*start) {}
  __device__ RowOperand(const Broadcast<Element, dimensions, false>& operand, long long row)
      : RowOperand(row_start(operand, row)) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
  __device__ void launder(Flight&, unsigned int) const {}
  __device__ Element element(const Flight&, int, int) const { return only; }
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
  static constexpr int words = 0;
  __device__ RowLoad(NoLoad, long long) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
  __device__ void launder(Flight&, unsigned int) const {}
};

template<typename T, typename Compute, int pack_size, bool apart>
struct RowLoad<DirectLoad<T, Compute>, pack_size, apart> {
  using Flight = Pack<T, pack_size>;
  static constexpr int words = (pack_size * sizeof(T) + 3) / 4;
  const T* start;

  __device__ RowLoad(const DirectLoad<T, Compute>& load, long long row)
      : start(load.source + row * load.row_size) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    fetch_if(wanted, flight, start + col, last);
  }
  __device__ void launder(Flight& flight, unsigned int bits) const { xor_word(flight.word, bits); }
  __device__ bool counts(int) const { return true; }
  __device__ void values(const Flight& flight, int, Compute* values) const { convert(flight, values); }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowLoad<ScaleLoad<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowLoad<Inner, pack_size, apart>::Flight;
  static constexpr int words = RowLoad<Inner, pack_size, apart>::words;
  RowLoad<Inner, pack_size, apart> inner;
  Compute scale;

  __device__ RowLoad(const ScaleLoad<Compute, Inner>& load, long long row)
      : inner(load.inner, row), scale(load.scale) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted, last);
  }
  __device__ void launder(Flight& flight, unsigned int bits) const { inner.launder(flight, bits); }
  __device__ bool counts(int col) const { return inner.counts(col); }
  __device__ void values(const Flight& flight, int col, Compute* values) const {
    inner.values(flight, col, values);
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
  static constexpr int words = RowLoad<Inner, pack_size, apart>::words + RowOperand<Bias, pack_size, apart>::words;
  RowLoad<Inner, pack_size, apart> inner;
  RowOperand<Bias, pack_size, apart> bias;

  __device__ RowLoad(const BiasLoad<Compute, Inner, Element, Bias>& load, long long row)
      : inner(load.inner, row), bias(load.bias, row) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight.inner, col, wanted, last);
    bias.fetch(flight.bias, col, wanted, last);
  }
  __device__ void launder(Flight& flight, unsigned int bits) const {
    inner.launder(flight.inner, bits);
    bias.launder(flight.bias, bits);
  }
  __device__ bool counts(int col) const { return inner.counts(col); }
  __device__ void values(const Flight& flight, int col, Compute* values) const {
    inner.values(flight.inner, col, values);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] += static_cast<Compute>(bias.element(flight.bias, col, i)); }
  }
};

template<typename Compute, typename Inner, typename Mask, int pack_size, bool apart>
struct RowLoad<MaskLoad<Compute, Inner, Mask>, pack_size, apart> {
  struct Flight {
    typename RowLoad<Inner, pack_size, apart>::Flight inner;
    typename RowOperand<Mask, pack_size, apart>::Flight mask;
  };
  static constexpr int words = RowLoad<Inner, pack_size, apart>::words + RowOperand<Mask, pack_size, apart>::words;
  RowLoad<Inner, pack_size, apart> inner;
  RowOperand<Mask, pack_size, apart> mask;
  Compute fill;

  __device__ RowLoad(const MaskLoad<Compute, Inner, Mask>& load, long long row)
      : inner(load.inner, row), mask(load.mask, row), fill(load.fill) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight.inner, col, wanted, last);
    mask.fetch(flight.mask, col, wanted, last);
  }
  __device__ void launder(Flight& flight, unsigned int bits) const {
    inner.launder(flight.inner, bits);
    mask.launder(flight.mask, bits);
  }
  __device__ bool counts(int col) const { return inner.counts(col); }
  __device__ void values(const Flight& flight, int col, Compute* values) const {
    inner.values(flight.inner, col, values);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] = mask.element(flight.mask, col, i) ? values[i] : fill; }
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowLoad<CausalLoad<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowLoad<Inner, pack_size, apart>::Flight;
  static constexpr int words = RowLoad<Inner, pack_size, apart>::words;
  RowLoad<Inner, pack_size, apart> inner;
  int last_col;
  Compute fill;

  __device__ RowLoad(const CausalLoad<Compute, Inner>& load, long long row)
      : RowLoad(load, row, last_column(load, row)) {}
  template<class Load>
  __device__ RowLoad(const Load& load, long long row, int last_col)
      : inner(load.inner, row), last_col(last_col), fill(load.fill) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted && col <= last_col, last);
  }
  __device__ void launder(Flight& flight, unsigned int bits) const { inner.launder(flight, bits); }
  __device__ void values(const Flight& flight, int col, Compute* values) const {
    const int kept = last_col - col;  // elements up to this one
    inner.values(flight, col, values);
    if (kept < pack_size - 1) {
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { values[i] = i <= kept ? values[i] : fill; }
    }
  }
  // Beyond the diagonal -inf changes no statistic.
  __device__ bool counts(int col) const { return col <= last_col || fill != minus_infinity<Compute>(); }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowLoad<DropoutLoad<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowLoad<Inner, pack_size, apart>::Flight;
  static constexpr int words = RowLoad<Inner, pack_size, apart>::words;
  RowLoad<Inner, pack_size, apart> inner;
  Dropout<Compute> dropout;
  long long row;

  __device__ RowLoad(const DropoutLoad<Compute, Inner>& load, long long row)
      : inner(load.inner, row), dropout(load.dropout), row(row) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted, last);
  }
  __device__ void launder(Flight& flight, unsigned int bits) const { inner.launder(flight, bits); }
  __device__ bool counts(int col) const { return inner.counts(col); }
  __device__ void values(const Flight& flight, int col, Compute* values) const {
    inner.values(flight, col, values);
    dropout.template apply<pack_size>(values, row, col);
  }
};

// Whether the largest value is found without the others.
template<class Load>
constexpr bool compares_pairs = false;
template<typename Compute, typename T>
constexpr bool compares_pairs<ScaleLoad<Compute, DirectLoad<T, Compute>>> = sizeof(T) == 2;

// The largest value of the pack at `col`. Multiples of 16-bit elements are compared as pairs of elements.
template<typename Compute, class Load, int pack_size, bool apart, class Flight>
__device__ Compute largest_value(const RowLoad<Load, pack_size, apart>& load, const Flight& flight, int col) {
  Compute value[pack_size];
  load.values(flight, col, value);
  Compute result = value[0];
#pragma unroll
  for (int i = 1; i < pack_size; ++i) { result = larger_of<false>(result, value[i]); }
  return result;
}
template<typename Compute, typename T, bool apart, class Flight>
__device__ Compute largest_value(
    const RowLoad<ScaleLoad<Compute, DirectLoad<T, Compute>>, 8, apart>& load, const Flight& flight, int) {
  return load.scale * (load.scale < 0 ? smallest_of(flight) : largest_of<Compute, false>(flight));
}
template<typename Compute, class Inner, bool apart, class Flight>
__device__ Compute largest_value(
    const RowLoad<CausalLoad<Compute, Inner>, 8, apart>& load, const Flight& flight, int col) {
  if (load.last_col - col >= 7) { return largest_value<Compute>(load.inner, flight, col); }
  Compute value[8];
  load.values(flight, col, value);
  Compute result = value[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) { result = larger_of<false>(result, value[i]); }
  return result;
}

// A row of a store. fetch() starts the accesses of what it needs beside the results.
template<class Store, int pack_size, bool apart>
struct RowStore;

template<typename T, typename Compute, int pack_size, bool apart>
struct RowStore<DirectStore<T, Compute>, pack_size, apart> {
  using Flight = Nothing;
  static constexpr int words = 0;
  T* start;

  __device__ RowStore(const DirectStore<T, Compute>& store, long long row)
      : start(store.destination + row * store.row_size) {}
  __device__ void fetch(Flight&, int, bool, LastFetch&) const {}
  __device__ void store(const Compute* values, const Flight&, int col, bool wanted) const {
    Pack<T, pack_size> pack;
    round_to(pack, values);
    store_if(wanted, start + col, pack.word);
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowStore<ScaleStore<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowStore<Inner, pack_size, apart>::Flight;
  static constexpr int words = RowStore<Inner, pack_size, apart>::words;
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
  static constexpr int words = RowStore<Inner, pack_size, apart>::words + RowOperand<Mask, pack_size, apart>::words;
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
    for (int i = 0; i < pack_size; ++i) { masked[i] = mask.element(flight.mask, col, i) ? values[i] : Compute(0); }
    inner.store(masked, flight.inner, col, wanted);
  }
};

template<typename Compute, typename Inner, int pack_size, bool apart>
struct RowStore<CausalStore<Compute, Inner>, pack_size, apart> {
  using Flight = typename RowStore<Inner, pack_size, apart>::Flight;
  static constexpr int words = RowStore<Inner, pack_size, apart>::words;
  RowStore<Inner, pack_size, apart> inner;
  int last_col;

  __device__ RowStore(const CausalStore<Compute, Inner>& store, long long row)
      : RowStore(store, row, last_column(store, row)) {}
  template<class Store>
  __device__ RowStore(const Store& store, long long row, int last_col)
      : inner(store.inner, row), last_col(last_col) {}
  __device__ void fetch(Flight& flight, int col, bool wanted, LastFetch& last) const {
    inner.fetch(flight, col, wanted, last);
  }
  __device__ void store(const Compute* values, const Flight& flight, int col, bool wanted) const {
    const int kept = last_col - col;  // elements up to this one
    Compute masked[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { masked[i] = values[i]; }
    if (kept < pack_size - 1) {
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { masked[i] = i <= kept ? values[i] : Compute(0); }
    }
    inner.store(masked, flight, col, wanted);
  }
};

template<typename Compute, typename Whole, typename Dropped, int pack_size, bool apart>
struct RowStore<DropoutStore<Compute, Whole, Dropped>, pack_size, apart> {
  using Flight = Nothing;
  static constexpr int words = 0;
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
    // Zeros stay zeros: masked packs, those beyond the diagonal and those beyond the row need no random numbers.
    bool all_zeros = true;
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { all_zeros = all_zeros && values[i] == Compute(0); }
    if (!all_zeros) { dropout.template apply<pack_size>(kept, row, col); }
    dropped.store(kept, flight, col, wanted);
  }
};

// Whether neighbouring matrices share the rows of an operand. A row's number has 32 bits then.
template<typename Element, int dimensions>
__device__ bool is_shared(const Broadcast<Element, dimensions, true>& operand, long long rows) {
  if constexpr (dimensions == 1) { return false; }
  constexpr int last = dimensions - 1, matrix = dimensions > 1 ? last - 1 : 0;
  return operand.strides[matrix] == 0 && operand.strides[last] != 0 && rows <= 0xffffffffll;
}
// The row of block `index`, where neighbouring matrices share the rows of an operand. Blocks take the rows that share
// one of them one after the other. So it comes from memory once, and not once per matrix.
template<typename Element, int dimensions>
__device__ long long side_by_side(const Broadcast<Element, dimensions, true>& operand, long long index) {
  constexpr int last = dimensions - 1, matrix = dimensions > 1 ? last - 1 : 0;
  const auto matrices = static_cast<unsigned int>(operand.sizes[matrix]);
  const auto each = static_cast<unsigned int>(operand.sizes[last]);
  const auto place = static_cast<unsigned int>(index);
  const unsigned int inside = dimensions > 2 ? place % (matrices * each) : place;
  return place - inside + inside % matrices * each + inside / matrices;
}
// The row of block `index`. One operand decides for all rows, the mask before the bias: each block must have another
// row than all others.
template<class Load>
__device__ long long row_of(const Load& load, long long index, long long rows) {
  return row_of(load.inner, index, rows);
}
template<typename T, typename Compute>
__device__ long long row_of(const DirectLoad<T, Compute>&, long long index, long long) {
  return index;
}
template<typename Compute, class Inner, typename Element, int dimensions>
__device__ long long row_of(
    const BiasLoad<Compute, Inner, Element, Broadcast<Element, dimensions, true>>& load, long long index,
    long long rows) {
  return is_shared(load.bias, rows) ? side_by_side(load.bias, index) : index;
}
template<typename Compute, class Inner, int dimensions>
__device__ long long row_of(
    const MaskLoad<Compute, Inner, Broadcast<unsigned char, dimensions, true>>& load, long long index,
    long long rows) {
  return is_shared(load.mask, rows) ? side_by_side(load.mask, index) : row_of(load.inner, index, rows);
}

// The array that a load reads in the end.
template<typename T, typename Compute>
__device__ const T* source_of(const DirectLoad<T, Compute>& load) {
  return load.source;
}
template<class Load>
__device__ auto source_of(const Load& load) {
  return source_of(load.inner);
}

// Lanes of a warp compute where their row lies for few elements. Numbers of 32 bits take half of the instructions.
template<bool in_warp>
struct SliceNumber {
  using type = long long;
};
template<>
struct SliceNumber<true> {
  using type = int;
};

// How a row lies over `stride` threads with `packs` packs each. If `unaligned`, it has a head and a tail besides
// (fast_row.cuh). If `apart`, rows share an operand, and so it begins elsewhere in a pack than they do.
template<typename T, int pack_size_, int packs_, int stride_, bool unaligned, bool apart_>
struct Division {
  using Element = T;
  static constexpr int pack_size = pack_size_;
  static constexpr int packs = packs_;
  static constexpr int stride = stride_;
  static constexpr bool apart = unaligned && apart_;
  // Elements that the body leaves to the tail: the last word of an operand's pack may have them, too.
  static constexpr int beyond = apart ? 4 : 0;
  // Elements of head and tail that a thread has at most.
  static constexpr int most_edges = body_alignment<T, pack_size> + pack_size - 2 + beyond;
  static constexpr int edges = unaligned ? (most_edges + stride - 1) / stride : 0;

  __device__ static ThreadSlice slice(
      const T* array, long long row, long long rows, long long cols, int thread, int block, int blocks) {
    using Number = typename SliceNumber<stride <= 32>::type;
    return thread_slice<pack_size, unaligned, beyond, Number>(array, row, rows, cols, thread, block, blocks);
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
  // The compiler takes what is in flight for new values: `bits` is 0, but it does not know that.
  __device__ void launder(unsigned int bits) {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      first.launder(of_first[j], bits);
      second.launder(of_second[j], bits);
    }
  }
  // The values of pack j of each input.
  __device__ void values(int j, Compute (&value)[Operator::inputs][pack_size]) const {
    first.values(of_first[j], places.col(j), value[0]);
    if constexpr (Operator::inputs > 1) { second.values(of_second[j], places.col(j), value[1]); }
  }
  // Calls f with an array of the inputs' values for each column that counts in a statistic.
  template<class Function>
  __device__ void visit(Function f) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      if (places.wanted(j) && first.counts(places.col(j))) {
        Compute value[Operator::inputs][pack_size];
        values(j, value);
#pragma unroll
        for (int i = 0; i < pack_size; ++i) { call(f, value, i); }
      }
    }
  }
  // The largest value, or `so_far`.
  __device__ Compute largest(Compute so_far) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      if (places.wanted(j) && first.counts(places.col(j))) {
        so_far = larger_of<false>(so_far, largest_value<Compute>(first, of_first[j], places.col(j)));
      }
    }
    return so_far;
  }
  // Gives the elements from `start` on their values. Packs that are not there change no statistic.
  template<int elements>
  __device__ void give(LaneElements<Operator, elements>& to, int start) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      Compute value[Operator::inputs][pack_size];
      values(j, value);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) {
#pragma unroll
        for (int k = 0; k < Operator::inputs; ++k) {
          to.elem[k][start + j * pack_size + i] = places.wanted(j) ? value[k][i] : Operator::filler();
        }
      }
    }
  }
  __device__ void store(const Compute* values) const {
#pragma unroll
    for (int j = 0; j < count; ++j) { store(j, values + j * pack_size); }
  }
  __device__ void store(int j, const Compute* values) const {
    target.store(values, of_target[j], places.col(j), places.wanted(j));
  }
  template<class Result>
  __device__ void store_results(const Result& result) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      Compute value[Operator::inputs][pack_size];
      if (first.counts(places.col(j))) {
        values(j, value);
#pragma unroll
        for (int i = 0; i < pack_size; ++i) {
          call([&](const Compute* each) { value[0][i] = result(each); }, value, i);
        }
      } else {
        const Compute masked[] = {minus_infinity<Compute>(), Compute(0)};
        value[0][0] = result(masked);
#pragma unroll
        for (int i = 1; i < pack_size; ++i) { value[0][i] = value[0][0]; }
      }
      store(j, value[0]);
    }
  }

 private:
  template<class Function>
  __device__ static void call(Function&& f, const Compute (&value)[Operator::inputs][pack_size], int i) {
    Compute each[Operator::inputs];
#pragma unroll
    for (int k = 0; k < Operator::inputs; ++k) { each[k] = value[k][i]; }
    f(each);
  }
};

// All accesses of a thread for its part of a row.
template<class Operator, class First, class Second, class Store, class Shape>
struct FusedAccesses {
  static constexpr int edges = Shape::edges;

  FusedPacks<
      Operator, First, Second, Store, BodyPlaces<Shape>, Shape::pack_size, Shape::packs, Shape::apart> body;
  FusedPacks<Operator, First, Second, Store, EdgePlaces<Shape>, 1, edges ? edges : 1, false> ends;

  // `zero` is 0, but the compiler does not know that.
  __device__ FusedAccesses(
      const ThreadSlice& slice, const First& first, const Second& second, const Store& store, long long row,
      unsigned int zero)
      : body({slice}, first, second, store, row), ends({slice}, first, second, store, row) {
    LastFetch last;
    body.fetch(last);
    if constexpr (edges > 0) { ends.fetch(last); }
    last.close(Shape::packs + edges > 1 ? zero : 0);
    launder(last.mixed);
  }
  __device__ void launder(unsigned int bits) {
    body.launder(bits);
    if constexpr (edges > 0) { ends.launder(bits); }
  }
};

// A thread keeps the values of its elements.
template<class Element, class First, class Second, class Store, class Shape>
struct KeptValues : FusedAccesses<Element, First, Second, Store, Shape> {
  using Operator = Element;
  static constexpr int in_body = Shape::packs * Shape::pack_size;
  static constexpr int edges = Shape::edges;

  LaneElements<Operator, in_body + edges> elements;

  __device__ KeptValues(
      const ThreadSlice& slice, const First& first, const Second& second, const Store& store, long long row,
      unsigned int zero)
      : FusedAccesses<Operator, First, Second, Store, Shape>(slice, first, second, store, row, zero) {
    this->body.give(elements, 0);
    if constexpr (edges > 0) { this->ends.give(elements, in_body); }
  }
  template<int width>
  __device__ typename Operator::Statistic reduce_group() {
    return Operator::template reduce_group<width>(elements);
  }
  template<class Result>
  __device__ void store(const Result& result) {
    elements.template visit<true>([&](typename Operator::Compute* values) { values[0] = result(values); });
    this->body.store(elements.elem[0]);
    if constexpr (edges > 0) { this->ends.store(elements.elem[0] + in_body); }
  }
};

// A thread keeps its elements as they came, and computes their values again at each visit.
template<class Element, class First, class Second, class Store, class Shape>
struct KeptElements : FusedAccesses<Element, First, Second, Store, Shape> {
  using Operator = Element;
  using Compute = typename Operator::Compute;
  static constexpr int edges = Shape::edges;

  unsigned int zero;

  __device__ KeptElements(
      const ThreadSlice& slice, const First& first, const Second& second, const Store& store, long long row,
      unsigned int zero)
      : FusedAccesses<Operator, First, Second, Store, Shape>(slice, first, second, store, row, zero), zero(zero) {}

  __device__ Compute largest() const {
    Compute result = this->body.largest(minus_infinity<Compute>());
    if constexpr (edges > 0) { result = this->ends.largest(result); }
    return result;
  }
  template<bool change, class Function>
  __device__ void visit(Function f) {
    static_assert(!change, "elements stay as they came");
    if constexpr (Operator::inputs == 1 && !compares_pairs<First>) { this->launder(zero); }  // after largest()
    this->body.visit(f);
    if constexpr (edges > 0) { this->ends.visit(f); }
  }
  template<int width>
  __device__ typename Operator::Statistic reduce_group() {
    return Operator::template reduce_group<width>(*this);
  }
  template<class Result>
  __device__ void store(const Result& result) {
    this->launder(zero);
    this->body.store_results(result);
    if constexpr (edges > 0) { this->ends.store_results(result); }
  }
};

template<class Load>
constexpr bool is_none = false;
template<>
constexpr bool is_none<NoLoad> = true;

template<class Store>
constexpr bool drops = false;
template<typename Compute, class Whole, class Dropped>
constexpr bool drops<DropoutStore<Compute, Whole, Dropped>> = true;

// Whether values take few instructions to compute again: no operand has an element for each, and there are no random
// numbers.
template<class Load>
constexpr bool is_cheap = false;
template<typename T, typename Compute>
constexpr bool is_cheap<DirectLoad<T, Compute>> = true;
template<typename Compute, class Inner>
constexpr bool is_cheap<ScaleLoad<Compute, Inner>> = is_cheap<Inner>;
template<typename Compute, class Inner>
constexpr bool is_cheap<CausalLoad<Compute, Inner>> = is_cheap<Inner>;
template<typename Compute, class Inner, typename Element, int dimensions>
constexpr bool is_cheap<BiasLoad<Compute, Inner, Element, Broadcast<Element, dimensions, false>>> = is_cheap<Inner>;
template<typename Compute, class Inner, int dimensions>
constexpr bool is_cheap<MaskLoad<Compute, Inner, Broadcast<unsigned char, dimensions, false>>> = is_cheap<Inner>;

template<class Load>
constexpr bool is_causal = false;
template<typename Compute, class Inner>
constexpr bool is_causal<CausalLoad<Compute, Inner>> = true;

// Elements of 16 bits stay as they came where that leaves registers for more of them, and instructions are not short:
// in short causal rows most packs meet the diagonal.
template<class First, class Store, class Shape>
constexpr bool keeps_elements =
    sizeof(typename Shape::Element) == 2 && Shape::pack_size > 1 && is_cheap<First> && !drops<Store> &&
    !(is_causal<First> && Shape::stride <= 32);

// Registers that a thread needs, about, if it keeps elements: 4 bytes in each of all that is in flight, and a few for
// the row. Lanes of a warp compute more of a row's places themselves.
template<class First, class Second, class Store, class Shape, bool in_warp>
constexpr int element_registers =
    (in_warp ? 32 : 20) + (Shape::edges ? 10 : 0) +
    Shape::packs * (RowLoad<First, Shape::pack_size, Shape::apart>::words +
                    RowLoad<Second, Shape::pack_size, Shape::apart>::words +
                    RowStore<Store, Shape::pack_size, Shape::apart>::words);

// Threads of an SM, as the compiler makes room for them: 64 registers for a thread, or 48 or 40 where that is enough.
template<class First, class Second, class Store, class Shape, bool in_warp>
__device__ constexpr int fused_threads() {
  using Element = typename Shape::Element;
  if constexpr (keeps_elements<First, Store, Shape>) {
    constexpr int needed = element_registers<First, Second, Store, Shape, in_warp>;
    return needed <= 42 ? 1536 : needed <= 50 ? 1280 : 1024;
  } else {
    constexpr int inputs = is_none<Second> ? 1 : 2;
    constexpr int words = Shape::pack_size * inputs * sizeof(ComputeType<Element>) / 4;
    return Shape::apart || Shape::packs * (words + 2) + Shape::edges > 31 ? 1024 : 1280;
  }
}

// How a thread keeps its part of a row.
template<bool elements, class Operators, class First, class Second, class Store, class Shape>
struct FusedRowOf;
template<class Operators, class First, class Second, class Store, class Shape>
struct FusedRowOf<true, Operators, First, Second, Store, Shape> {
  using type = KeptElements<typename Operators::OfElements, First, Second, Store, Shape>;
};
template<class Operators, class First, class Second, class Store, class Shape>
struct FusedRowOf<false, Operators, First, Second, Store, Shape> {
  using type = KeptValues<typename Operators::OfValues, First, Second, Store, Shape>;
};
template<class Operators, class First, class Second, class Store, class Shape>
using FusedRow =
    typename FusedRowOf<keeps_elements<First, Store, Shape>, Operators, First, Second, Store, Shape>::type;

template<typename T, Algorithm algorithm>
struct ForwardOf {
  using OfElements = Forward<T, algorithm>;
  using OfValues = Forward<ComputeType<T>, algorithm>;
};
template<typename T, Algorithm algorithm>
struct BackwardOf {
  using OfElements = Backward<T, algorithm>;
  using OfValues = Backward<ComputeType<T>, algorithm>;
};

// As fast_warp_rows: the lanes of a group own a row.
template<class Operators, class Shape, class First, class Second, class Store>
__device__ void fused_warp_rows(
    const First& first, const Second& second, const Store& store, long long rows, long long cols) {
  using Held = FusedRow<Operators, First, Second, Store, Shape>;
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
    Held held(slice, first, second, store, min(row, rows - 1), static_cast<unsigned int>(rows >> 63));
    held.store(typename Held::Operator::Result(held.template reduce_group<width>()));
  }
}

// As fast_block_row, in a loop: `cluster` blocks share a row.
template<class Operators, class Shape, int cluster, class First, class Second, class Store>
__device__ void fused_block_rows(
    const First& first, const Second& second, const Store& store, long long rows, long long cols) {
  using Held = FusedRow<Operators, First, Second, Store, Shape>;
  const Exchange<typename Held::Operator, Shape::stride, cluster> blocks;
  const int rank = blockIdx.x % cluster;

  blocks.cluster_arrive();
  int iteration = 0;
  for (long long index = blockIdx.x / cluster; index < rows; index += gridDim.x / cluster, ++iteration) {
    const long long row = row_of(first, index, rows);
    const ThreadSlice slice = Shape::slice(source_of(first), row, rows, cols, threadIdx.x, rank, cluster);
    Held held(slice, first, second, store, row, static_cast<unsigned int>(rows >> 63));
    const auto own = held.template reduce_group<32>();
    if (iteration == 0) { blocks.cluster_wait(); }
    held.store(typename Held::Operator::Result(own, blocks.exchange(own, iteration)));
  }
  if (iteration == 0) { blocks.cluster_wait(); }
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int width,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(
        128, fused_threads<
                 Load, NoLoad, Store,
                 Division<T, pack_size, packs, width, unaligned, apart>, true>() / 128)
    fast_warp_fused(Load load, Store store, long long rows, long long cols) {
  using Operators = ForwardOf<T, algorithm>;
  using Shape = Division<T, pack_size, packs, width, unaligned, apart>;
  fused_warp_rows<Operators, Shape>(load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int width,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(
        128, fused_threads<
                 Load, DirectLoad<T, ComputeType<T>>, Store,
                 Division<T, pack_size, packs, width, unaligned, apart>, true>() / 128)
    fast_warp_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operators = BackwardOf<T, algorithm>;
  using Shape = Division<T, pack_size, packs, width, unaligned, apart>;
  fused_warp_rows<Operators, Shape>(dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(
        block_size, fused_threads<
                        Load, NoLoad, Store,
                        Division<T, pack_size, packs, block_size, unaligned, apart>, false>() / block_size)
    fast_block_fused(Load load, Store store, long long rows, long long cols) {
  using Operators = ForwardOf<T, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operators, Shape, 1>(load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size,
    bool unaligned, bool apart>
__global__ void
    __launch_bounds__(
        block_size, fused_threads<
                        Load, DirectLoad<T, ComputeType<T>>, Store,
                        Division<T, pack_size, packs, block_size, unaligned, apart>, false>() / block_size)
    fast_block_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operators = BackwardOf<T, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operators, Shape, 1>(dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size, int cluster,
    bool unaligned, bool apart>
__global__ void SOFTLAB_CLUSTER(cluster)
    __launch_bounds__(
        block_size, fused_threads<
                        Load, NoLoad, Store,
                        Division<T, pack_size, packs, block_size, unaligned, apart>, false>() / block_size)
    fast_cluster_fused(Load load, Store store, long long rows, long long cols) {
  using Operators = ForwardOf<T, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operators, Shape, cluster>(load, NoLoad(), store, rows, cols);
}

template<
    typename T, Algorithm algorithm, class Load, class Store, int pack_size, int packs, int block_size, int cluster,
    bool unaligned, bool apart>
__global__ void SOFTLAB_CLUSTER(cluster)
    __launch_bounds__(
        block_size, fused_threads<
                        Load, DirectLoad<T, ComputeType<T>>, Store,
                        Division<T, pack_size, packs, block_size, unaligned, apart>, false>() / block_size)
    fast_cluster_backward_fused(Load dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  using Operators = BackwardOf<T, algorithm>;
  using Shape = Division<T, pack_size, packs, block_size, unaligned, apart>;
  fused_block_rows<Operators, Shape, cluster>(dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}
