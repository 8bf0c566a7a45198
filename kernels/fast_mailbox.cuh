// Statistics of rows that blocks all over the GPU share: a mailbox in global memory, and the two warps that use it.
//
// Idea     Each 32-bit word of a partial statistic travels with a tag, the number of its row, in one access of 64 bits.
//          A reader that finds the expected tag has the word, too. So there is no fence, no counter, and nothing to
//          reset.
// Idea     No thread that computes waits for the mailbox. One warp of the block publishes its partials, and another one
//          polls for those of all blocks and leaves the row's statistic in shared memory.
// Traffic  Each block writes 16 bytes per row (double: 32), and all blocks that share the row read them.
// Limits   sm_90. Invariants 4 to 7 of fast_grid.cuh, and 5 to 8 of fast_ring.cuh, say when a place may be overwritten.
// Source   PTX ISA, "Memory Consistency Model", "mbarrier".
#pragma once

#include "fast_barrier.cuh"
#include "fast_operator.cuh"
#include "fast_row.cuh"

constexpr int mailbox_header_words = 16;

// One lane arrives for its warp, after __syncwarp(). compute-sanitizer's racecheck does not see that this orders the
// other lanes, too. So -DSOFTLAB_EVERY_LANE_ARRIVES lets all of them arrive: tests/hardware/sanitize.py uses it.
#ifdef SOFTLAB_EVERY_LANE_ARRIVES
constexpr int arrivals_of_warp = 32;
#else
constexpr int arrivals_of_warp = 1;
#endif
__device__ inline void warp_arrive(unsigned long long* barrier) {
  __syncwarp();
  if (arrivals_of_warp == 32 || threadIdx.x % 32 == 0) { barrier_arrive(barrier); }
}

// Tagged partial statistics in global memory: `partials` of them per row, for the last 2 * slots rows.
template<class Statistic, int partials, int slots>
class Mailbox {
 public:
  static constexpr int words = sizeof(Statistic) / 4 < 2 ? 2 : sizeof(Statistic) / 4;
  static constexpr int workspace_words = mailbox_header_words + 2 * slots * partials * words;

  __device__ explicit Mailbox(unsigned long long* workspace) : workspace_(workspace) {}

  // The number of rows that this workspace has seen before this launch.
  __device__ unsigned int rows_before() const {
    return *reinterpret_cast<volatile unsigned int*>(workspace_);
  }
  __device__ void set_rows_before(unsigned int rows) const {
    *reinterpret_cast<volatile unsigned int*>(workspace_) = rows;
  }

  __device__ void publish(int iteration, unsigned int tag, int which, const Statistic& statistic) const {
    unsigned int raw[words] = {};
    memcpy(raw, &statistic, sizeof(Statistic));
    const unsigned long long high = static_cast<unsigned long long>(tag) << 32;
#pragma unroll
    for (int w = 0; w < words; w += 2) {
      asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(partial(iteration, which) + w),
                   "l"(high | raw[w]), "l"(high | raw[w + 1])
                   : "memory");
    }
  }

  // Waits for all partials of a row. Lane l of the warp gets those with the numbers l, l + 32, ..., else `none`.
  template<int each>
  __device__ void poll(
      int iteration, unsigned int tag, int lane, Statistic (&statistic)[each], const Statistic& none) const {
    unsigned int raw[each][words];
    bool complete = false;
    while (!complete) {
      complete = true;
#pragma unroll
      for (int e = 0; e < each; ++e) {
        const unsigned long long* const from = partial(iteration, min(lane + e * 32, partials - 1));
#pragma unroll
        for (int w = 0; w < words; w += 2) {
          unsigned long long a, b;
          asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from + w) : "memory");
          raw[e][w] = static_cast<unsigned int>(a), raw[e][w + 1] = static_cast<unsigned int>(b);
          complete =
              complete && static_cast<unsigned int>(a >> 32) == tag && static_cast<unsigned int>(b >> 32) == tag;
        }
      }
      complete = __all_sync(0xffffffff, complete);
    }
#pragma unroll
    for (int e = 0; e < each; ++e) {
      statistic[e] = none;
      if (lane + e * 32 < partials) { memcpy(&statistic[e], raw[e], sizeof(Statistic)); }
    }
  }

 private:
  unsigned long long* workspace_;

  __device__ unsigned long long* partial(int iteration, int which) const {
    return workspace_ + mailbox_header_words + (iteration % (2 * slots) * partials + which) * words;
  }
};

__device__ constexpr int power_of_two_from(int least) {
  int power = 1;
  while (power < least) { power *= 2; }
  return power;
}

// The publish step and the poll step of one block: `publishes` tells which of them this warp does. row_of(iteration) is
// this lane's slice of a row. Block 0 of the group also loads head and tail of each row, publishes their partial, and
// writes their results. warp_partials has one partial per warp and row, and some that change nothing. Both steps arrive
// at row_ready: its phase ends when the row's statistic is there, and when this block's partials have been read.
template<
    class Operator, int pack_size, int partials, int slots, int padded_warps, bool unaligned, typename T, class RowOf>
__device__ void exchange_rows(
    const T* const (&source)[Operator::inputs], T* target, unsigned long long* workspace, int iterations, int group,
    int rank, bool publishes, RowOf row_of, const typename Operator::Statistic (&warp_partials)[slots][padded_warps],
    typename Operator::Statistic (&row_statistic)[slots], unsigned long long (&partials_ready)[slots],
    unsigned long long (&row_ready)[slots]) {
  using Statistic = typename Operator::Statistic;
  using GroupMailbox = Mailbox<Statistic, partials, slots>;
  using Reread = typename Operator::Reread;
  using Ends = RowFragment<Reread, pack_size, 1, 32, unaligned>;
  const int lane = threadIdx.x % 32;
  const GroupMailbox mailbox(workspace + static_cast<long long>(group) * GroupMailbox::workspace_words);
  // Block 0 of the group has the rows' ends: head and tail. No thread of it has a pack of the body here.
  const bool has_ends = unaligned && rank == 0;
  const auto ends_of = [&](int iteration) {
    ThreadSlice slice = row_of(iteration);
    slice.first = slice.stop = 0;
    return slice;
  };
  __shared__ unsigned int rows_before;
  if (publishes) { rows_before = mailbox.rows_before(); }
  asm volatile("bar.sync 1, 64;" ::: "memory");  // both of these warps, and no other
  const unsigned int first_tag = rows_before + 1;

  // Publish: this block's partial of each row goes to the mailbox; in block 0 that of head and tail, too. These are
  // loaded a row ahead, and their partial waits for the block's: all other blocks would wait for block 0.
  if (publishes) {
    Ends next;
    if (has_ends && iterations > 0) { next.load(ends_of(0), source); }
    for (int iteration = 0; iteration < iterations; ++iteration) {
      Statistic of_ends;
      if (has_ends) {
        of_ends = Reread::template reduce_group<32>(next);
        if (iteration + 1 < iterations) { next.load(ends_of(iteration + 1), source); }
      }
      barrier_wait(&partials_ready[iteration % slots], iteration / slots % 2);
      const Statistic statistic = Operator::template merge_partials<padded_warps>(warp_partials[iteration % slots]);
      if (lane == 0) {
        mailbox.publish(iteration, first_tag + iteration, rank, statistic);
        if (has_ends) { mailbox.publish(iteration, first_tag + iteration, partials - 1, of_ends); }
      }
      warp_arrive(&row_ready[iteration % slots]);  // all lanes have read the partials
    }
    return;
  }
  // Poll: all partials of each row become the row's statistic. Block 0 writes head and tail, too.
  for (int iteration = 0; iteration < iterations; ++iteration) {
    Ends ends;
    const ThreadSlice slice = ends_of(iteration);
    if (has_ends) { ends.load(slice, source); }
    barrier_wait(&partials_ready[iteration % slots], iteration / slots % 2);
    Statistic statistic[(partials + 31) / 32];
    mailbox.poll(iteration, first_tag + iteration, lane, statistic, Operator::identity());
    const Statistic row = Operator::merge_lane_partials(statistic);
    if (lane == 0) {
      row_statistic[iteration % slots] = row;
      barrier_arrive(&row_ready[iteration % slots]);
    }
    __syncwarp();
    if (has_ends) { ends.store(slice, target, typename Reread::Result(row, row)); }
  }
  if (rank == 0 && lane == 0 && iterations > 0) { mailbox.set_rows_before(rows_before + iterations); }
}
