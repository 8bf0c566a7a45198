// Rows of megabytes, a step at a time: loads, statistics and results go through a ring at fixed distances.
//
// Readers  Read fast_grid.cuh first: blocks all over the GPU share a row, and exchange partial statistics through a
//          mailbox in global memory.
// Idea     fast_grid works on a whole row at a time: it waits for all of a thread's packs, and it has room for few long
//          rows. Here a thread sees only one sequence of steps, row after row, each with `per_step` packs. In step s it
//          writes the results of step s - lag, starts the copies of step s + ahead into the places of those packs, and
//          takes the packs of step s into its statistic. So loads and stores are mixed evenly at any length of a row,
//          and a row may fill almost the whole ring.
// Idea     The answer to a row's statistic takes about 4 us. The row's first results are due again +
//          lag - row_steps steps after its last packs were computed. At the speed of memory a step of two packs takes a
//          microsecond.
// Idea     Copies into shared memory cover the latency of the L2 cache only. A prefetch brings the lines into L2 some
//          steps earlier. It needs no place on the SM, so almost the whole ring holds rows. While all blocks wait for
//          an answer, memory works on the prefetches.
// Idea     A row may be longer than the ring. The ring then keeps the end of the row. Its first `again` steps are
//          computed and forgotten, and loaded again when the row's statistic is known. So a row has `again` steps more
//          than its packs take, all at the same fixed distances. The L2 cache has some of what is loaded again.
// Idea     Registers hold packs, too: a thread's first `kept` packs of a row. They are loaded when those of the row
//          before have been written, and join the statistic with the row's last step.
// Idea     A block's packs may be one slice of the row, or `stripes`: in each step the blocks take pieces that lie side
//          by side, so all of them move along the row together. Memory is faster then, where a row is that long.
// Steps    write    the results of the step that is `lag` behind; nothing for a step that will be loaded again
//          load     the packs of the step that is `ahead`, by cp.async into the places that are free now
//          fetch    the packs of the step that is `fetched` ahead of that one, into L2
//          compute  this step's packs join the thread's statistic, unless they are loaded again; after all packs of a
//                   row the warp's partial is ready
//          publish, poll: two more warps, as in fast_grid
// Traffic  Global memory: each element read once and written once; those of the first `again` steps read twice. Each
//          block writes 16 bytes per row (double: 32), and all blocks that share the row read them.
// Launch   block block_size + 64; groups * blocks_per_row blocks, all resident at once (a cooperative launch); stages *
//          inputs * block_size packs of dynamic shared memory; a workspace of 8 * Mailbox::workspace_words bytes per
//          group. The workspace is zero before its first launch, and two launches never use it at the same time.
// Limits   sm_90; packs of 4 bytes or more; less than 2^31 rows. A block's slice (row and a line of 128 bytes /
//          blocks_per_row, rounded up to 8 packs) has at most (kept + packs) * block_size packs, with stripes, too. Of
//          the steps of a row, all but `again` are at most stages / per_step - ahead. `unaligned`: as in fast_warp.cuh.
// Measured H200: kernels/FAST.md, "Rows of megabytes".
// Source   PTX ISA, "Memory Consistency Model", "cp.async", "prefetch", "mbarrier".
//
// Invariants. A group is the `blocks_per_row` blocks that share a row. Its rows have the iterations t = 0, 1, 2, ...
// A row has row_steps = ceil(packs / per_step) steps, and all_steps = row_steps + again with those that are loaded
// again. The ring has stages / per_step steps, and lag = stages / per_step - ahead.
//   1. Row t uses slot t % slots of warp_partials, row_statistic and both mbarriers, with slots = ceil(lag /
//      all_steps). The phase of the mbarriers has the parity t / slots % 2.
//   2. A compute thread takes the statistic of row t - slots before it ends the computation of row t: step
//      (t - slots) * all_steps + again + lag comes before step t * all_steps + row_steps - 1 or is the same, because
//      lag <= slots * all_steps and again < row_steps, and in one step a thread writes first.
//   3. Only one thread uses a place in the ring, so a thread waits only for its own copies. Every step has one group of
//      copies, empty where the row has no packs. When step s computes, the newest group is that of step s + ahead. So
//      exactly `ahead` groups are newer than its own.
//   4. again + lag >= row_steps, so a row's last packs have been computed before its first results are due. If its
//      statistic has not come by then, the thread waits.
//   5. partials_ready of row t ends when all compute warps have stored their partial. By 2, these warps have then taken
//      the statistic of row t - slots. So the poll step may overwrite row_statistic.
//   6. A warp overwrites its partial of row t - slots only after it has taken that row's statistic (2). For that it
//      waited for row_ready, at which this block's publish step arrives when it has read the partials.
//   7. The mailbox keeps 2 * slots rows. A block that publishes row t has taken the statistic of row t - slots, by 5.
//      So it has had all partials of that row. The other blocks published these after they had taken the statistic of
//      row t - 2 * slots, by 5 again. So the partials of row t - 2 * slots may be overwritten.
//   8. With `kept`, lag < 2 * row_steps: step t * all_steps + again + lag, which writes the packs of row t in registers
//      and loads those of row t + 1, comes before step (t + 1) * all_steps + row_steps - 1, which takes these into the
//      statistic, or is the same.
//   9. One thread and step have each pack of a row. With stripes, block b's piece of step i begins at pack i * stride +
//      b * piece, counted from a line of 128 bytes that is less than 8 packs before the row. The steps in registers
//      count, too, and come first. All pieces have block_size * per_step packs. So they follow each other without a
//      gap. The last step may have too few packs for all blocks.
//  10. Tags grow from launch to launch, as in fast_grid (its invariant 7).
#pragma once

#include "fast_launch.cuh"
#include "fast_mailbox.cuh"
#include "fast_row.cuh"

// A thread's place in the sequence of its packs.
struct RingCursor {
  long long row_start;  // the row's first element, counted from the start of the array
  long long offset;     // of the step's first pack, in elements
  int pack;             // the same pack, counted from the row's first one; below 0 it does not exist
  int stop;             // the block's packs end before this one
  int step;             // within the row
  int iteration;        // of the row
};

template<
    class Operator, int pack_size, int packs, int per_step, int stages, int ahead, int fetched, int again, int kept,
    int block_size, int blocks_per_row, bool stripes, bool unaligned, typename T>
__device__ void fast_ring_rows(
    const T* const (&source)[Operator::inputs], T* target, unsigned long long* workspace, long long rows,
    long long cols) {
  using Statistic = typename Operator::Statistic;
  constexpr int inputs = Operator::inputs;
  constexpr int warps = block_size / 32;
  constexpr int row_steps = (packs + per_step - 1) / per_step;
  constexpr int all_steps = row_steps + again;
  constexpr int lag = stages / per_step - ahead;
  constexpr int slots = (lag + all_steps - 1) / all_steps;
  constexpr int kept_steps = kept / per_step;
  // Packs that a block takes in a step, and packs from one step of a thread to its next.
  constexpr int piece = per_step * block_size, stride = stripes ? blocks_per_row * piece : piece;
  // Where a gradient loads packs again, L2 keeps them: 1 to 5 % (H100). For one input this gains nothing.
  constexpr bool keeps = again > 0 && inputs == 2;
  // Gradients whose rows have several steps gain 0.2 to 1.2 % by it (H200). Others lose.
  constexpr bool fetches_first = inputs == 2 && row_steps > 1;
  // Head and tail of a row are a partial of their own. Block 0 of the group publishes it.
  constexpr int partials = blocks_per_row + (unaligned ? 1 : 0);
  static_assert(stages % per_step == 0, "a step has its own places in the ring");
  static_assert(again >= 0 && again < row_steps, "some steps of a row stay in the ring");
  static_assert(ahead > 0 && lag >= row_steps - again, "the ring holds these steps and the copies ahead");
  static_assert(kept % per_step == 0, "registers hold what whole steps have");
  static_assert(kept == 0 || lag < 2 * row_steps, "registers hold the packs of one row");
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
  const int steps = iterations * all_steps;
  const auto slice_of = [&](int iteration, int thread) {
    return thread_slice<pack_size, unaligned>(
        source[0], group + static_cast<long long>(iteration) * groups, rows, cols, thread, rank, blocks_per_row);
  };
  // Setup: the mbarriers, and partials that change nothing where there is no warp.
  if (threadIdx.x < slots) {
    barrier_init(&partials_ready[threadIdx.x], warps * arrivals_of_warp);
    barrier_init(&row_ready[threadIdx.x], 1 + arrivals_of_warp);
  }
  for (int i = threadIdx.x; i < slots * power_of_two_from(warps); i += block_size + 64) {
    warp_partials[i / power_of_two_from(warps)][i % power_of_two_from(warps)] = Operator::identity();
  }
  __syncthreads();
  follow_previous_kernel();

  if (threadIdx.x >= block_size) {
    const auto row_of = [&](int iteration) { return slice_of(iteration, threadIdx.x % 32); };
    exchange_rows<Operator, pack_size, partials, slots, power_of_two_from(warps), unaligned>(
        source, target, workspace, iterations, group, rank, threadIdx.x < block_size + 32, row_of, warp_partials,
        row_statistic, partials_ready, row_ready);
    return;
  }

  auto* const own = reinterpret_cast<Pack<T, pack_size>*>(dynamic_shared) + threadIdx.x;
  const auto place = [&](int k, int stage) -> Pack<T, pack_size>& { return own[(k * stages + stage) * block_size]; };
  // As thread_slice(), of a row whose first element is known, with fewer instructions: each thread does it four times
  // per row. That is up to 15 % where rows are short (H100). Here the packs of a warp begin at a line of 128 bytes
  // wherever the row begins: up to 4 %. So the first threads of block 0 may have no pack.
  constexpr int packs_of_line = 128 / sizeof(Pack<T, pack_size>);
  const int whole_packs = static_cast<int>(cols / pack_size), other_elements = static_cast<int>(cols % pack_size);
  const int packs_per_block = stripes
      ? piece
      : ((whole_packs + packs_of_line - 1 + blocks_per_row - 1) / blocks_per_row + 7) / 8 * 8;
  const auto first_element = static_cast<unsigned int>(reinterpret_cast<unsigned long long>(source[0]) / sizeof(T));
  const auto start_of = [&](int iteration, long long row_start) {
    int head = 0, body_packs = whole_packs;
    if constexpr (unaligned) {
      head = -(first_element + static_cast<unsigned int>(row_start)) % body_alignment<T, pack_size>;
      if (head > other_elements) { body_packs -= (head - other_elements + pack_size - 1) / pack_size; }
    }
    const int before = (first_element + static_cast<unsigned int>(row_start) + head) / pack_size % packs_of_line;
    const int block_start = rank * packs_per_block - before;
    const int end = stripes ? body_packs : min(body_packs, block_start + packs_per_block);
    const int stop = iteration < iterations ? max(0, end) : 0;
    const int pack = block_start + kept_steps * stride + static_cast<int>(threadIdx.x);
    const long long offset = row_start + head + static_cast<long long>(pack) * pack_size;
    return RingCursor{row_start, offset, pack, stop, 0, iteration};
  };
  const auto exists = [](const RingCursor& cursor, int further) {
    return static_cast<unsigned int>(cursor.pack + further) < static_cast<unsigned int>(cursor.stop);
  };
  // The packs in registers come before those of the row's first step, `start`. hold() loads as many as a step has.
  RowFragment<Operator, pack_size, per_step, block_size, false> held[kept ? kept_steps : 1];
  const auto held_at = [](int i, int u) { return (i - kept_steps) * stride + u * block_size; };
  const auto hold = [&](const RingCursor& start, int i) {
#pragma unroll
    for (int u = 0; u < per_step; ++u) {
      const int further = held_at(i, u);
      held[i].body[u].fill();
      held[i].body[u].load_if(exists(start, further), source, start.offset + further * pack_size);
    }
  };
  const auto advance = [&](RingCursor& cursor) {
    cursor.offset += stride * pack_size;
    cursor.pack += stride;
    if (++cursor.step == all_steps) {
      cursor = start_of(cursor.iteration + 1, cursor.row_start + groups * cols);
    } else if (again > 0 && cursor.step == row_steps) {
      cursor.offset -= static_cast<long long>(row_steps) * stride * pack_size;
      cursor.pack -= row_steps * stride;
    }
  };
  const auto load = [&](RingCursor& cursor, int stage) {
#pragma unroll
    for (int u = 0; u < per_step; ++u) {
#pragma unroll
      for (int k = 0; k < inputs; ++k) {
        copy_async_if<T, pack_size>(exists(cursor, u * block_size), &place(k, stage + u),
                                    source[k] + cursor.offset + u * block_size * pack_size);
      }
    }
    commit_copies();
    advance(cursor);
  };
  const bool fetches = threadIdx.x % (128 / sizeof(Pack<T, pack_size>)) == 0;  // one thread per line of 128 bytes
  const auto fetch = [&](RingCursor& cursor) {
#pragma unroll
    for (int u = 0; u < per_step; ++u) {
#pragma unroll
      for (int k = 0; k < inputs; ++k) {
        const T* const address = source[k] + cursor.offset + u * block_size * pack_size;
        const bool wanted = fetches && exists(cursor, u * block_size);
        if (keeps && cursor.step < again) {
          fetch_and_keep_if(wanted, address);
        } else {
          fetch_into_l2_if(wanted, address);
        }
      }
    }
    advance(cursor);
  };

  RingCursor loaded = start_of(0, group * cols), into_l2 = loaded, computed = loaded, written = loaded;
#pragma unroll
  for (int i = 0; i < kept_steps; ++i) { hold(loaded, i); }
#pragma unroll 1
  for (int i = 0; i < ahead; ++i) { load(loaded, i * per_step), advance(into_l2); }
#pragma unroll 1
  for (int i = 0; i < fetched; ++i) { fetch(into_l2); }
  int load_stage = ahead * per_step, compute_stage = 0, compute_slot = 0, write_slot = 0, write_parity = 0;
  Statistic statistic = Operator::identity();
  typename Operator::Result result(statistic);
#pragma unroll 1
  for (int step = 0; step < steps + lag; ++step) {
    if constexpr (fetches_first) { fetch(into_l2); }
    // Write: the packs of step - lag lie where the copies of this step go.
    if (step >= lag) {
      if (written.step == again) {
        barrier_wait(&row_ready[write_slot], write_parity);
        result = typename Operator::Result(row_statistic[write_slot]);
        if (++write_slot == slots) { write_slot = 0, write_parity ^= 1; }
        if constexpr (kept > 0) {
          const RingCursor next = start_of(written.iteration + 1, written.row_start + groups * cols);
#pragma unroll
          for (int i = 0; i < kept_steps; ++i) {
#pragma unroll
            for (int u = 0; u < per_step; ++u) {
              const int further = held_at(i, u) - again * stride;  // this step is the row's step `again`
              held[i].body[u].template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
              store_if(exists(written, further), target + written.offset + static_cast<long long>(further) * pack_size,
                       held[i].body[u].input[0].word);
            }
            hold(next, i);
          }
        }
      }
#pragma unroll
      for (int u = 0; u < per_step; ++u) {
        if (written.step >= again && exists(written, u * block_size)) {
          InputPacks<Operator, pack_size> values;
#pragma unroll
          for (int k = 0; k < inputs; ++k) { values.input[k].word = place(k, load_stage + u).word; }
          values.template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
          store_if(true, target + written.offset + u * block_size * pack_size, values.input[0].word);
        }
      }
      advance(written);
    }
    // Load, and fetch. Rows beyond the last one have no packs.
    load(loaded, load_stage);
    if ((load_stage += per_step) == stages) { load_stage = 0; }
    if constexpr (!fetches_first) { fetch(into_l2); }
    // Compute.
    if (step < steps) {
      wait_copies<ahead>();  // invariant 3
      if (again == 0 || computed.step < row_steps) {
        RowFragment<Operator, pack_size, per_step, block_size, false> fragment;
#pragma unroll
        for (int u = 0; u < per_step; ++u) {
          fragment.body[u].fill();
          if (exists(computed, u * block_size)) {
#pragma unroll
            for (int k = 0; k < inputs; ++k) { fragment.body[u].input[k].word = place(k, compute_stage + u).word; }
          }
        }
        Operator::add(statistic, fragment);
      }
      if ((compute_stage += per_step) == stages) { compute_stage = 0; }
      if (computed.step == row_steps - 1) {
#pragma unroll
        for (int i = 0; i < kept_steps; ++i) { Operator::add(statistic, held[i]); }
        const Statistic warp = Operator::reduce_warp(statistic);
        if (threadIdx.x % 32 == 0) { warp_partials[compute_slot][threadIdx.x / 32] = warp; }
        warp_arrive(&partials_ready[compute_slot]);  // all lanes have taken row t - slots' statistic (invariant 5)
        statistic = Operator::identity();
        if (++compute_slot == slots) { compute_slot = 0; }
      }
      advance(computed);
    }
  }
}

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int per_step, int stages, int ahead, int fetched,
    int again, int kept, int block_size, int blocks_per_row, bool stripes, bool unaligned>
__global__ void __launch_bounds__(block_size + 64, 1)
    fast_ring(const T* x, T* y, unsigned long long* workspace, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_ring_rows<
      Forward<T, algorithm, false>, pack_size, packs, per_step, stages, ahead, fetched, again, kept, block_size,
      blocks_per_row, stripes, unaligned>(
      source, y, workspace, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int per_step, int stages, int ahead, int fetched,
    int again, int kept, int block_size, int blocks_per_row, bool stripes, bool unaligned>
__global__ void __launch_bounds__(block_size + 64, 1)
    fast_ring_backward(
        const T* dy, const T* y, T* dx, unsigned long long* workspace, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_ring_rows<
      Backward<T, algorithm>, pack_size, packs, per_step, stages, ahead, fetched, again, kept, block_size,
      blocks_per_row, stripes, unaligned>(
      source, dx, workspace, rows, cols);
}
