// Rows of megabytes: a cluster keeps a row in registers and shared memory, and loads the next row while it writes this
//          one.
//
// Idea     Sixteen blocks with 200 KiB of shared memory and 50 KiB of registers each keep a row of 4 MiB. But then an
//          SM holds only one block, and no other block works while that one waits. So the block issues its loads as
//          early as possible. As soon as a pack is computed and its store is issued, the same thread starts a cp.async
//          of the next row's pack into the same slot. Loads and stores overlap all the time.
// Idea     A slot in shared memory belongs to one thread, like a register. So no barrier is needed, only a wait for the
//          thread's own copies. Neighbouring threads have neighbouring slots, so there are no bank conflicts.
// Traffic  Global memory: each element read once and written once. Shared memory: a pack there is written once (softmax
//          in float and double: twice) and read three times.
// Launch   block block_size, in clusters of `cluster` blocks along x; inputs * stage_packs * block_size packs of
//          dynamic shared memory. Any grid that is a multiple of `cluster`; best is the number of blocks that the GPU
//          holds at once.
// Limits   sm_90, or sm_80 with cluster = 1; packs of 4 bytes or more. A block's slice has at most
//          (register_packs + stage_packs) * block_size packs. `unaligned`: as in fast_warp.cuh.
// Source   PTX ISA, "cp.async".
#pragma once

#include "fast_launch.cuh"
#include "fast_operator.cuh"
#include "fast_row.cuh"

// The packs of a row that a thread keeps in shared memory: one slot per pack and input.
template<class Operator, int pack_size, int packs, int stride>
struct SharedStage {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;
  Pack<T, pack_size>* own;  // this thread's first slot

  __device__ Pack<T, pack_size>& slot(int k, int j) const { return own[(k * packs + j) * stride]; }

  __device__ void load(const ThreadSlice& slice, const T* const (&source)[inputs]) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) { load_pack(slice, source, j); }
  }
  __device__ Compute largest(const ThreadSlice& slice) const {
    Compute result = minus_infinity<Compute>();
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      if (slice.first + j * stride >= slice.stop) { break; }
      result = larger_of<false>(result, largest_of<Compute, false>(read(j).input[0]));
    }
    return result;
  }
  template<bool change, class Function>
  __device__ void visit(const ThreadSlice& slice, Function f) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      if (slice.first + j * stride >= slice.stop) { break; }
      InputPacks<Operator, pack_size> pack = read(j);
      pack.template visit<change>(f);
      if constexpr (change) { slot(0, j).word = pack.input[0].word; }
    }
  }
  // Each store frees a slot, and the load of the next row's pack follows at once.
  template<class Result>
  __device__ void store_and_load(
      const ThreadSlice& slice, T* target, Result result, const ThreadSlice& next,
      const T* const (&source)[inputs]) const {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      const int pack_index = slice.first + j * stride;
      if (pack_index < slice.stop) {
        InputPacks<Operator, pack_size> pack = read(j);
        pack.template visit<true>([&](Compute* values) { values[0] = result(values); });
        store_if(true, target + slice.pack_offset<pack_size>(pack_index), pack.input[0].word);
      }
      load_pack(next, source, j);
    }
  }

 private:
  __device__ InputPacks<Operator, pack_size> read(int j) const {
    InputPacks<Operator, pack_size> pack;
#pragma unroll
    for (int k = 0; k < inputs; ++k) { pack.input[k].word = slot(k, j).word; }
    return pack;
  }
  __device__ void load_pack(const ThreadSlice& slice, const T* const (&source)[inputs], int j) const {
    const int pack = slice.first + j * stride;
    if (pack >= slice.stop) { return; }
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
      copy_async<T, pack_size>(&slot(k, j), source[k] + slice.pack_offset<pack_size>(pack));
    }
  }
};

// A thread's elements in registers and in shared memory, visited as one fragment.
template<class Fragment, class Stage>
struct FragmentAndStage {
  Fragment& fragment;
  const Stage& stage;
  const ThreadSlice& stage_slice;

  __device__ auto largest() const { return larger_of<false>(fragment.largest(), stage.largest(stage_slice)); }
  template<bool change, class Function>
  __device__ void visit(Function f) {
    fragment.template visit<change>(f);
    stage.template visit<change>(stage_slice, f);
  }
};

template<
    class Operator, int pack_size, int register_packs, int stage_packs, int block_size, int cluster, bool unaligned,
    typename T>
__device__ void fast_pipeline_rows(
    const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  using Fragment = RowFragment<Operator, pack_size, register_packs, block_size, unaligned>;
  using Stage = SharedStage<Operator, pack_size, stage_packs, block_size>;
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  const Exchange<Operator, block_size, cluster> blocks;
  const Stage stage{reinterpret_cast<Pack<T, pack_size>*>(dynamic_shared) + threadIdx.x};
  Fragment fragment;

  const auto slice_of_row = [&](long long row) {
    return thread_slice<pack_size, unaligned>(source[0], row, rows, cols, threadIdx.x, blockIdx.x % cluster, cluster);
  };
  // The packs in shared memory follow those in registers.
  const auto stage_slice_of = [](ThreadSlice slice) {
    slice.first += register_packs * block_size;
    return slice;
  };

  blocks.cluster_arrive();
  follow_previous_kernel();
  const long long clusters = gridDim.x / cluster;
  long long row = blockIdx.x / cluster;
  ThreadSlice slice = slice_of_row(row);
  stage.load(stage_slice_of(slice), source);
  fragment.load(slice, source);
  blocks.cluster_wait();
  for (int iteration = 0; row < rows; row += clusters, ++iteration) {
    wait_all_copies();
    const ThreadSlice stage_slice = stage_slice_of(slice);
    FragmentAndStage<Fragment, Stage> both{fragment, stage, stage_slice};
    const auto own = Operator::template reduce_group<32>(both);
    fragment.launder_registers(static_cast<unsigned int>(rows >> 63));
    const typename Operator::Result result(own, blocks.exchange(own, iteration));
    const ThreadSlice next = slice_of_row(row + clusters);
    fragment.store_and_load(slice, target, result, next, source);
    stage.store_and_load(stage_slice, target, result, stage_slice_of(next), source);
    slice = next;
  }
}

template<
    typename T, Algorithm algorithm, int pack_size, int register_packs, int stage_packs, int block_size, int cluster,
    bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_pipeline(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_pipeline_rows<Forward<T, algorithm>, pack_size, register_packs, stage_packs, block_size, cluster, unaligned>(
      source, y, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int register_packs, int stage_packs, int block_size, int cluster,
    bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_pipeline_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_pipeline_rows<Backward<T, algorithm>, pack_size, register_packs, stage_packs, block_size, cluster, unaligned>(
      source, dx, rows, cols);
}
