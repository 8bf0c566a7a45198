// Rows of megabytes: a cluster keeps a row in registers and shared memory, and asks for the next while it writes this
//          one.
//
// Idea     Sixteen blocks with 200 KiB of shared memory and 50 KiB of registers each keep a row of 4 MiB. But then an
//          SM has one block, and nobody else to work while that one waits. So the block never waits for a load that it
//          could have asked for before: as soon as a pack is computed and its store has left, the same thread has
//          cp.async fetch the next row's pack into the same place. Loads and stores leave side by side all the time.
// Idea     A place in shared memory belongs to one thread, like a register. So no barrier is needed, only the end of
//          the thread's own copies; and neighbouring threads have neighbouring places, so no banks conflict.
// Traffic  Global memory: each element read once and written once. Shared memory: a pack there is written once (softmax
//          in float and double: twice) and read three times.
// Launch   block block_size, in clusters of `cluster` blocks along x; inputs * on_shelf * block_size packs of dynamic
//          shared memory. Any grid that is a multiple of the cluster; the best is what the GPU holds at once.
// Limits   sm_90, or sm_80 with cluster = 1; packs of 4 bytes or more. A share has at most (in_registers + on_shelf) *
//          block_size packs; ragged as in fast_warp.
// Source   PTX ISA, "cp.async".
#pragma once

#include "fast_operator.cuh"
#include "fast_row.cuh"

// The packs that a thread keeps in shared memory.
template<class Operator, int pack_size, int packs, int stride>
struct Shelf {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;
  Pack<T, pack_size>* own;  // this thread's first place

  __device__ Pack<T, pack_size>& place(int k, int j) const { return own[(k * packs + j) * stride]; }

  __device__ void load(const Part& part, const T* const (&source)[inputs]) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) { load_pack(part, source, j); }
  }
  __device__ Compute largest(const Part& part) const {
    Compute result = minus_infinity<Compute>();
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      if (part.first + j * stride >= part.stop) { break; }
      result = fmax(result, largest_of<Compute>(taken(j).of[0]));
    }
    return result;
  }
  template<bool change, class Function>
  __device__ void visit(const Part& part, Function f) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      if (part.first + j * stride >= part.stop) { break; }
      Packs<Operator, pack_size> pack = taken(j);
      pack.template visit<change>(f);
      if constexpr (change) { place(0, j).word = pack.of[0].word; }
    }
  }
  template<class Result>
  __device__ void store_and_load(
      const Part& part, T* target, Result result, const Part& next, const T* const (&source)[inputs]) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      const int at = part.first + j * stride;
      if (at < part.stop) {
        Packs<Operator, pack_size> pack = taken(j);
        pack.template visit<true>([&](Compute* values) { values[0] = result(values); });
        store_if(true, target + part.pack_at<pack_size>(at), pack.of[0].word);
      }
      load_pack(next, source, j);
    }
  }

 private:
  __device__ Packs<Operator, pack_size> taken(int j) const {
    Packs<Operator, pack_size> pack;
#pragma unroll
    for (int k = 0; k < inputs; ++k) { pack.of[k].word = place(k, j).word; }
    return pack;
  }
  __device__ void load_pack(const Part& part, const T* const (&source)[inputs], int j) const {
    const int pack = part.first + j * stride;
    if (pack >= part.stop) { return; }
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
      copy_async<T, pack_size>(&place(k, j), source[k] + part.pack_at<pack_size>(pack));
    }
  }
};

// Registers and shelf as one.
template<class Registers, class Shelves>
struct HeldAndShelved {
  Registers& held;
  const Shelves& shelf;
  const Part& shelved;

  __device__ auto largest() const { return fmax(held.largest(), shelf.largest(shelved)); }
  template<bool change, class Function>
  __device__ void visit(Function f) {
    held.template visit<change>(f);
    shelf.template visit<change>(shelved, f);
  }
};

template<
    class Operator, int pack_size, int in_registers, int on_shelf, int block_size, int cluster, bool ragged, typename T>
__device__ void fast_ring_rows(const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  using Registers = Held<Operator, pack_size, in_registers, block_size, ragged>;
  using Shelves = Shelf<Operator, pack_size, on_shelf, block_size>;
  extern __shared__ __align__(16) unsigned char dynamic_shared[];
  const Exchange<Operator, block_size, cluster> blocks;
  const Shelves shelf{reinterpret_cast<Pack<T, pack_size>*>(dynamic_shared) + threadIdx.x};
  Registers held;

  const auto part_of_row = [&](long long row) {
    return part_of<pack_size, ragged>(source[0], row, rows, cols, threadIdx.x, blockIdx.x % cluster, cluster);
  };
  // The packs on the shelf follow those in registers.
  const auto shelved_of = [](Part part) {
    part.first += in_registers * block_size;
    return part;
  };

  blocks.announce();
  const long long clusters = gridDim.x / cluster;
  long long row = blockIdx.x / cluster;
  Part part = part_of_row(row);
  shelf.load(shelved_of(part), source);
  held.load(part, source);
  blocks.begin();
  for (int turn = 0; row < rows; row += clusters, ++turn) {
    await_copies();
    const Part shelved = shelved_of(part);
    HeldAndShelved<Registers, Shelves> both{held, shelf, shelved};
    const auto own = Operator::template of_group<32>(both);
    held.convert_again(static_cast<unsigned int>(rows >> 63));
    const typename Operator::Result result(own, blocks.exchange(own, turn));
    const Part next = part_of_row(row + clusters);
    held.store_and_load(part, target, result, next, source);
    shelf.store_and_load(shelved, target, result, shelved_of(next), source);
    part = next;
  }
}

template<
    typename T, Algorithm algorithm, int pack_size, int in_registers, int on_shelf, int block_size, int cluster,
    bool ragged>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_ring(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_ring_rows<Forward<T, algorithm>, pack_size, in_registers, on_shelf, block_size, cluster, ragged>(
      source, y, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int in_registers, int on_shelf, int block_size, int cluster,
    bool ragged>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_ring_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_ring_rows<Backward<T, algorithm>, pack_size, in_registers, on_shelf, block_size, cluster, ragged>(
      source, dx, rows, cols);
}
