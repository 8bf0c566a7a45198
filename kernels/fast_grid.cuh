// Rows of megabytes, or long rows that are fewer than SMs: blocks anywhere on the GPU share a row.
//
// Readers  This file is for readers who know cp.async groups, mbarrier phases and relaxed accesses to global memory.
//          Read fast_block.cuh, fast_pipeline.cuh and fast_exchange.cuh first. The comments in the code name the steps
//          and invariants below.
// Idea     A cluster lies within one of the GPU's processing clusters. So clusters of 16 leave 20 of an H200's 132 SMs
//          idle, and 64 rows on 7 clusters take ten rounds, the last nearly empty. Here any number of blocks shares a
//          row, one block per SM: all 132 for a row of 4 MiB, 44 for one of 1 MiB. No SM is left over.
// Idea     The blocks exchange statistics in global memory, through a mailbox. Each 32-bit word of a partial statistic
//          travels with a tag, the number of its row, in one access of 64 bits. A reader that finds the expected tag
//          has the word, too. So there is no fence, no counter, and nothing to reset.
// Idea     The answer takes about 7 us while memory is busy, because it queues behind the data. No thread waits for it:
//          several rows are in flight, in a multistage pipeline in shared memory. While `rows_in_flight` rows wait for
//          their statistic, later rows are loaded and computed.
// Steps    load     the compute warps copy packs into shared memory by cp.async
//          compute  they take the partial statistic of the next row
//          publish  one more warp merges the block's partials and writes them to the mailbox
//          poll     one more warp waits for all partials of a row and merges them into the row's statistic
//          write    the compute warps write the row that is `rows_in_flight` rows behind, and load into its slots
// Traffic  Global memory: each element read once and written once. Each block writes 16 bytes per row (double: 32), and
//          all blocks that share the row read them.
// Launch   block block_size + 64; groups * blocks_per_row blocks, all resident at once (a cooperative launch); stages *
//          inputs * block_size packs of dynamic shared memory; a workspace of 8 * Mailbox::workspace_words bytes per
//          group. The workspace is zero before its first launch, and two launches never use it at the same time.
// Limits   sm_90; packs of 4 bytes or more; less than 2^31 rows. A block's slice (row / blocks_per_row, rounded up to 8
//          packs) has at most packs * block_size packs, and stages >= packs * (rows_in_flight + 1). `unaligned`: as in
//          fast_warp.cuh.
// Measured H200: kernels/FAST.md. It also lists what did not help (tickets for chunks of rows, bulk copies, a second
//          polling warp).
// Source   PTX ISA, "Memory Consistency Model", "cp.async", "mbarrier".
//
// Invariants. A group is the `blocks_per_row` blocks that share a row. Its rows have the iterations t = 0, 1, 2, ...
//   1. Row t uses slot t % slots of warp_partials, row_statistic and both mbarriers, with slots = rows_in_flight + 1.
//      The phase of the mbarriers has the parity t / slots % 2.
//   2. A compute thread writes row t - slots before it computes row t, and it computes row t before it writes row
//      t - rows_in_flight.
//   3. Only one thread uses a slot of the pipeline, so a thread waits only for its own copies. Every pack has its own
//      copy group, empty for a pack beyond the row. So the number of pending groups tells which packs have come.
//      At row t > 0, at most stages - packs * slots groups are newer than row t (at row 0: stages - packs).
//   4. partials_ready of row t ends when all compute warps have stored their partial. By 2, these warps have then
//      written row t - slots. So the poll step may overwrite row_statistic.
//   5. A warp overwrites its partial of row t - slots only after it has written that row. For that it waited for
//      row_ready, at which this block's publish step arrives when it has read the partials.
//   6. The mailbox keeps 2 * slots rows. A block that publishes row t has written row t - slots, by 4, so it has had
//      all partials of that row. The other blocks published these after they had written row t - 2 * slots, by 4
//      again. So the partials of row t - 2 * slots may be overwritten.
//   7. Tags grow from launch to launch: the workspace counts the rows of earlier launches. Both mailbox warps read the
//      count before their block publishes anything. It changes after all partials of the last row have come.
#pragma once

#include "fast_launch.cuh"
#include "fast_mailbox.cuh"

// A thread's slots in shared memory, one per input and stage. Only this thread uses them (invariant 3).
template<class Operator, int pack_size, int stages, int stride>
struct Pipeline {
  using T = typename Operator::Element;
  Pack<T, pack_size>* own;

  __device__ Pack<T, pack_size>& slot(int k, int stage) const { return own[(k * stages + stage) * stride]; }

  // Load: starts the copies of pack j of a slice.
  __device__ void load(const T* const (&source)[Operator::inputs], const ThreadSlice& slice, int j, int stage) const {
    const int pack = slice.first + j * stride;
    if (pack < slice.stop) {
#pragma unroll
      for (int k = 0; k < Operator::inputs; ++k) {
        copy_async<T, pack_size>(&slot(k, stage), source[k] + slice.template pack_offset<pack_size>(pack));
      }
    }
    commit_copies();
  }

  // Copies the packs of a row, which begin at `stage`, into registers.
  template<class Fragment>
  __device__ void read(Fragment& fragment, const ThreadSlice& slice, int stage) const {
#pragma unroll
    for (int j = 0; j < Fragment::packs_per_thread; ++j) {
      fragment.body[j].fill();
      if (slice.first + j * stride < slice.stop) {
#pragma unroll
        for (int k = 0; k < Operator::inputs; ++k) { fragment.body[j].input[k].word = slot(k, advance(stage, j)).word; }
      }
    }
  }

  // Puts the first input's packs back, after the operator changed them.
  template<class Fragment>
  __device__ void keep(const Fragment& fragment, const ThreadSlice& slice, int stage) const {
#pragma unroll
    for (int j = 0; j < Fragment::packs_per_thread; ++j) {
      if (slice.first + j * stride < slice.stop) { slot(0, advance(stage, j)).word = fragment.body[j].input[0].word; }
    }
  }

  // The stage that follows `by` stages after `stage`.
  static __device__ int advance(int stage, int by) {
    return stage + by < stages ? stage + by : stage + by - stages;
  }
};

// The whole kernel: first the setup, then the loop of the compute warps, then the two mailbox warps.
template<
    class Operator, int pack_size, int packs, int stages, int rows_in_flight, int block_size, int blocks_per_row,
    bool unaligned, typename T>
__device__ void fast_grid_rows(
    const T* const (&source)[Operator::inputs], T* target, unsigned long long* workspace, long long rows,
    long long cols) {
  using Statistic = typename Operator::Statistic;
  constexpr int inputs = Operator::inputs;
  constexpr int warps = block_size / 32;
  constexpr int slots = rows_in_flight + 1;
  // Head and tail of a row are a partial of their own. Block 0 of the group publishes it.
  constexpr int partials = blocks_per_row + (unaligned ? 1 : 0);
  static_assert(stages >= packs * slots, "the pipeline holds the rows in flight and the row that is computed");
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  __shared__ Statistic warp_partials[slots][power_of_two_from(warps)];
  __shared__ Statistic row_statistic[slots];
  // These phases end when all compute warps have stored their partial; when row_statistic is stored and the publish
  // step has read the partials.
  __shared__ __align__(8) unsigned long long partials_ready[slots], row_ready[slots];

  const int rank = blockIdx.x % blocks_per_row;
  const int group = blockIdx.x / blocks_per_row;
  const int groups = gridDim.x / blocks_per_row;
  const int iterations = group < rows ? static_cast<int>((rows - 1 - group) / groups) + 1 : 0;
  const auto slice_of = [&](int iteration, int thread) {
    return thread_slice<pack_size, unaligned>(
        source[0], group + static_cast<long long>(iteration) * groups, rows, cols, thread, rank, blocks_per_row);
  };

  const Pipeline<Operator, pack_size, stages, block_size> pipeline{
      reinterpret_cast<Pack<T, pack_size>*>(dynamic_shared) + threadIdx.x};
  follow_previous_kernel();
  // Setup: the loads of the first rows, the mbarriers, and partials that change nothing where there is no warp.
  ThreadSlice slice;
  if (threadIdx.x < block_size) {
#pragma unroll
    for (int stage = 0; stage < stages; ++stage) {
      if (stage % packs == 0) { slice = slice_of(stage / packs, threadIdx.x); }
      pipeline.load(source, slice, stage % packs, stage);
    }
  }
  if (threadIdx.x < slots) {
    barrier_init(&partials_ready[threadIdx.x], warps * arrivals_of_warp);
    barrier_init(&row_ready[threadIdx.x], 1 + arrivals_of_warp);
  }
  for (int i = threadIdx.x; i < slots * power_of_two_from(warps); i += block_size + 64) {
    warp_partials[i / power_of_two_from(warps)][i % power_of_two_from(warps)] = Operator::identity();
  }
  __syncthreads();

  if (threadIdx.x < block_size) {
    int compute_stage = 0, compute_slot = 0, write_stage = 0, write_slot = 0, write_parity = 0;
    for (int iteration = 0; iteration < iterations + rows_in_flight; ++iteration) {
      if (iteration < iterations) {
        // Compute: this warp's partial statistic of row `iteration`.
        slice = slice_of(iteration, threadIdx.x);
        RowFragment<Operator, pack_size, packs, block_size, false> fragment;
        if (iteration == 0) {  // invariant 3
          wait_copies<stages - packs>();
        } else {
          wait_copies<stages - packs * slots>();
        }
        pipeline.read(fragment, slice, compute_stage);
        const Statistic statistic = Operator::template reduce_group<32>(fragment);
        __syncwarp();  // all lanes have read this place when they wrote row t - slots
        if (threadIdx.x % 32 == 0) { warp_partials[compute_slot][threadIdx.x / 32] = statistic; }
        warp_arrive(&partials_ready[compute_slot]);
        if constexpr (Operator::keeps_exponential) { pipeline.keep(fragment, slice, compute_stage); }
        compute_stage = pipeline.advance(compute_stage, packs);
        if (++compute_slot == slots) { compute_slot = 0; }
      }
      if (iteration >= rows_in_flight) {
        // Write: the row that is `rows_in_flight` rows older. Each pack that is written frees its slots, and the
        // load of a later row's pack into them follows at once. That pack belongs to the row of `next`, or to the row
        // of `second` behind it.
        slice = slice_of(iteration - rows_in_flight, threadIdx.x);
        const ThreadSlice next = slice_of(iteration - rows_in_flight + stages / packs, threadIdx.x);
        const ThreadSlice second =
            stages % packs ? slice_of(iteration - rows_in_flight + stages / packs + 1, threadIdx.x) : next;
        barrier_wait(&row_ready[write_slot], write_parity);
        const typename Operator::Result result(warp_partials[write_slot][threadIdx.x / 32], row_statistic[write_slot]);
#pragma unroll
        for (int j = 0; j < packs; ++j) {
          const int at = pipeline.advance(write_stage, j);
          const int pack = slice.first + j * block_size;
          if (pack < slice.stop) {
            InputPacks<Operator, pack_size> values;
#pragma unroll
            for (int k = 0; k < inputs; ++k) { values.input[k].word = pipeline.slot(k, at).word; }
            values.template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
            store_if(true, target + slice.template pack_offset<pack_size>(pack), values.input[0].word);
          }
          constexpr int ahead = stages % packs;
          pipeline.load(source, j + ahead < packs ? next : second, (j + ahead) % packs, at);
        }
        write_stage = pipeline.advance(write_stage, packs);
        if (++write_slot == slots) { write_slot = 0, write_parity ^= 1; }
      }
    }
    return;
  }

  exchange_rows<Operator, pack_size, partials, slots, power_of_two_from(warps), unaligned>(
      source, target, workspace, iterations, group, rank, threadIdx.x < block_size + 32,
      [&](int iteration) { return slice_of(iteration, threadIdx.x % 32); }, warp_partials, row_statistic,
      partials_ready, row_ready);
}

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int stages, int rows_in_flight, int block_size,
    int blocks_per_row, bool unaligned>
__global__ void __launch_bounds__(block_size + 64, 1)
    fast_grid(const T* x, T* y, unsigned long long* workspace, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_grid_rows<
      Forward<T, algorithm>, pack_size, packs, stages, rows_in_flight, block_size, blocks_per_row, unaligned>(
      source, y, workspace, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int stages, int rows_in_flight, int block_size,
    int blocks_per_row, bool unaligned>
__global__ void __launch_bounds__(block_size + 64, 1)
    fast_grid_backward(
        const T* dy, const T* y, T* dx, unsigned long long* workspace, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_grid_rows<
      Backward<T, algorithm>, pack_size, packs, stages, rows_in_flight, block_size, blocks_per_row, unaligned>(
      source, dx, workspace, rows, cols);
}
