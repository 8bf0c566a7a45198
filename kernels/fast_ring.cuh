#pragma once

#include "fast_held.cuh"
#include "fast_operator.cuh"

// Packs that a thread keeps in shared memory. Nobody else reads them, so it needs no barrier, only its own copies' end;
// thread t of a block lies beside thread t + 1, so a warp's packs are neighbours and meet in no bank.
template<class Operator, int pack_size, int packs, int stride>
struct Shelf {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;
  Pack<T, pack_size>* own;  // this thread's first place

  __device__ Pack<T, pack_size>& place(int k, int j) const { return own[(k * packs + j) * stride]; }

  __device__ void fill(const Part& part, const T* source, int k, int j) const {
    const int pack = part.first + j * stride;
    if (pack < part.stop) { copy_async<T, pack_size>(&place(k, j), source + part.pack_at<pack_size>(pack)); }
  }
  __device__ void load(const Part& part, const T* const (&source)[inputs]) const {
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
#pragma unroll
      for (int j = 0; j < packs; ++j) { fill(part, source[k], k, j); }
    }
  }
  __device__ Compute largest(const Part& part) const {
    Compute result = minus_infinity<Compute>();
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      if (part.first + j * stride >= part.stop) { break; }
      Pack<T, pack_size> pack;
      pack.word = place(0, j).word;
      result = fmax(result, largest_of<Compute>(pack));
    }
    return result;
  }
  template<bool change = false, class Function>
  __device__ void visit(const Part& part, Function f) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      if (part.first + j * stride >= part.stop) { break; }
      Pack<T, pack_size> pack[inputs];
#pragma unroll
      for (int k = 0; k < inputs; ++k) { pack[k].word = place(k, j).word; }
#pragma unroll
      for (int i = 0; i < pack_size; ++i) {
        Compute values[inputs];
#pragma unroll
        for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(pack[k].elem[i]); }
        f(values);
        if constexpr (change) { pack[0].elem[i] = static_cast<T>(values[0]); }
      }
      if constexpr (change) { place(0, j).word = pack[0].word; }
    }
  }
  template<class Result>
  __device__ void store(
      const Part& part, T* target, Result result, const Part& next, const T* const (&source)[inputs]) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      const int at = part.first + j * stride;
      if (at < part.stop) {
        Pack<T, pack_size> pack[inputs];
        Compute results[pack_size];
#pragma unroll
        for (int k = 0; k < inputs; ++k) { pack[k].word = place(k, j).word; }
#pragma unroll
        for (int i = 0; i < pack_size; ++i) {
          Compute values[inputs];
#pragma unroll
          for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(pack[k].elem[i]); }
          results[i] = result(values);
        }
        store_streaming<T, pack_size>(target + part.pack_at<pack_size>(at), packed<T, pack_size>(results));
      }
#pragma unroll
      for (int k = 0; k < inputs; ++k) { fill(next, source[k], k, j); }
    }
  }
};

// Registers and shelf together.
template<class Registers, class Shelves>
struct Both {
  Registers& registers;
  const Shelves& shelf;
  const Part& part;

  __device__ auto largest() const { return fmax(registers.largest(), shelf.largest(part)); }
  template<bool change = false, class Function>
  __device__ void visit(Function f) {
    registers.template visit<change>(f);
    shelf.template visit<change>(part, f);
  }
};

template<class Operator, int pack_size, int in_registers, int on_shelf, int block_size, int cluster, bool ragged>
__device__ void fast_ring_rows(
    const typename Operator::Element* const (&source)[Operator::inputs], typename Operator::Element* target,
    long long rows, long long cols) {
  using T = typename Operator::Element;
  constexpr int warps = block_size / 32;
  extern __shared__ __align__(16) unsigned char dynamic_shared[];
  __shared__ typename Operator::Statistic places[2][cluster * warps];
  const int rank = blockIdx.x % cluster;
  using Registers = Held<Operator, pack_size, in_registers, block_size, ragged>;
  using Shelves = Shelf<Operator, pack_size, on_shelf, block_size>;
  Registers held;
  const Shelves shelf{reinterpret_cast<Pack<T, pack_size>*>(dynamic_shared) + threadIdx.x};
  const long long clusters = gridDim.x / cluster;
  long long row = blockIdx.x / cluster;

  if constexpr (cluster > 1) { arrive_at_cluster(); }
  Part part = part_of<pack_size, ragged>(source[0], row, rows, cols, threadIdx.x, rank, cluster);
  Part rest = part;  // the packs on the shelf follow those in registers
  rest.first += in_registers * block_size;
  shelf.load(rest, source);
  held.load(part, source);
  if constexpr (cluster > 1) { await_cluster(); }
  for (int turn = 0; row < rows; row += clusters, turn ^= 1) {
    await_copies();
    Both<Registers, Shelves> both{held, shelf, rest};
    const auto own = Operator::template of_group<32>(both);
    held.forget_converted(static_cast<unsigned int>(rows >> 63));
    typename Operator::Statistic whole;
    if constexpr (cluster > 1) {
      whole = ClusterExchange<Operator, warps, cluster>{places, rank}(own, turn);
    } else {
      whole = BlockExchange<Operator, warps>{places}(own, turn);
    }
    const typename Operator::Result result(own, whole);
    const Part next = part_of<pack_size, ragged>(source[0], row + clusters, rows, cols, threadIdx.x, rank, cluster);
    Part next_rest = next;
    next_rest.first += in_registers * block_size;
    held.template store<true>(part, target, result, next, source);
    shelf.store(rest, target, result, next_rest, source);
    part = next;
    rest = next_rest;
  }
}

template<
    typename T, Algorithm algorithm, int pack_size, int in_registers, int on_shelf, int block_size, int cluster,
    bool ragged>
__global__ void CLUSTER_OF(cluster) __launch_bounds__(block_size)
    fast_ring(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_ring_rows<Forward<T, algorithm>, pack_size, in_registers, on_shelf, block_size, cluster, ragged>(
      source, y, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int in_registers, int on_shelf, int block_size, int cluster,
    bool ragged>
__global__ void CLUSTER_OF(cluster) __launch_bounds__(block_size)
    fast_ring_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_ring_rows<Backward<T, algorithm>, pack_size, in_registers, on_shelf, block_size, cluster, ragged>(
      source, dx, rows, cols);
}
