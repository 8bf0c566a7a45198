// Rows of megabytes, or long rows that are fewer than SMs: blocks anywhere on the GPU share a row.
//
// Idea     A cluster lies within one of the GPU's processing clusters, so clusters of 16 leave 20 of an H200's 132 SMs
//          idle, and 64 rows on 7 clusters are ten rounds, of which the last is nearly empty. Here any number of blocks
//          shares a row, one on each SM: all 132 for a row of 4 MiB, 44 for one of 1 MiB. Nobody is left over.
// Idea     Such blocks meet in global memory. A block's statistic is a letter: every 32-bit word beside the number of
//          its row, both written and read by one access of 64 bits. So whoever reads the number that it waits for has
//          the word, too: no fence, no counter, nothing to reset.
// Idea     An answer takes some 7 us while memory is busy, since it queues behind the data. Nobody waits for it: a
//          thread has several rows in its ring of places in shared memory. Of the newest it asks for the elements; the
//          next has come, and its statistic is taken; `lag` rows later the answer is there, and the row is written.
// Idea     Two warps do nothing but write letters: one reports, one listens. The others meet them at mbarriers.
// Traffic  Global memory: each element read once and written once, and 16 bytes (double: 32) a block and row, which all
//          blocks that share the row read.
// Launch   block block_size + 64; groups * shares blocks, all resident at once (a cooperative launch); ring * inputs *
//          block_size packs of dynamic shared memory; a workspace of Letters::workspace_words times 8 bytes a group,
//          zeroed before its first launch, and never used by two launches at once.
// Limits   sm_90; packs of 4 bytes or more; less than 2^31 rows. A share (row / shares, rounded up to 8 packs) has at
//          most packs * block_size packs, and ring >= packs * (lag + 1). ragged as in fast_warp.
// Measured H200, kernels/FAST.md: what did not help, too (tickets for pieces of rows, bulk copies, a second listener).
// Source   PTX ISA, "Memory Consistency Model", "cp.async", "mbarrier".
#pragma once

#include "fast_barrier.cuh"
#include "fast_operator.cuh"
#include "fast_row.cuh"

constexpr int letter_header_words = 16;

// How the blocks of a group tell each other the statistics of rows. `letters` are written for each row, and those of
// 2 * places rows are kept: who writes one of row t is done with row t - places, so had all its letters; so all others
// have sent those, and are done with row t - 2 * places, whose letters may go.
template<class Statistic, int letters, int places>
class Letters {
 public:
  static constexpr int words = sizeof(Statistic) / 4 < 2 ? 2 : sizeof(Statistic) / 4;
  static constexpr int workspace_words = letter_header_words + 2 * places * letters * words;

  __device__ explicit Letters(unsigned long long* workspace) : workspace_(workspace) {}

  // How many rows this workspace has seen before this launch: rows are numbered on from there.
  __device__ unsigned int rows_before() const {
    return *reinterpret_cast<volatile unsigned int*>(workspace_);
  }
  __device__ void set_rows_before(unsigned int rows) const {
    *reinterpret_cast<volatile unsigned int*>(workspace_) = rows;
  }

  __device__ void write(int turn, unsigned int tag, int which, const Statistic& statistic) const {
    unsigned int raw[words] = {};
    memcpy(raw, &statistic, sizeof(Statistic));
    const unsigned long long high = static_cast<unsigned long long>(tag) << 32;
#pragma unroll
    for (int w = 0; w < words; w += 2) {
      asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(letter(turn, which) + w), "l"(high | raw[w]),
                   "l"(high | raw[w + 1])
                   : "memory");
    }
  }

  // Waits for all letters of a row; lane l of the warp gets those numbered l, l + 32, ...
  template<int each>
  __device__ void read(
      int turn, unsigned int tag, int lane, Statistic (&statistic)[each], const Statistic& none) const {
    unsigned int raw[each][words];
    bool come = false;
    while (!come) {
      come = true;
#pragma unroll
      for (int e = 0; e < each; ++e) {
        const unsigned long long* const from = letter(turn, min(lane + e * 32, letters - 1));
#pragma unroll
        for (int w = 0; w < words; w += 2) {
          unsigned long long a, b;
          asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from + w) : "memory");
          raw[e][w] = static_cast<unsigned int>(a), raw[e][w + 1] = static_cast<unsigned int>(b);
          come = come && static_cast<unsigned int>(a >> 32) == tag && static_cast<unsigned int>(b >> 32) == tag;
        }
      }
      come = __all_sync(0xffffffff, come);
    }
#pragma unroll
    for (int e = 0; e < each; ++e) {
      statistic[e] = none;
      if (lane + e * 32 < letters) { memcpy(&statistic[e], raw[e], sizeof(Statistic)); }
    }
  }

 private:
  unsigned long long* workspace_;

  __device__ unsigned long long* letter(int turn, int which) const {
    return workspace_ + letter_header_words + (turn % (2 * places) * letters + which) * words;
  }
};

__device__ constexpr int power_of_two_from(int least) {
  int power = 1;
  while (power < least) { power *= 2; }
  return power;
}

// Rows are counted in turns: the group's first, its second, ... A turn's statistics have one of lag + 1 places.
template<
    class Operator, int pack_size, int packs, int ring, int lag, int block_size, int shares, bool ragged, typename T>
__device__ void fast_grid_rows(
    const T* const (&source)[Operator::inputs], T* target, unsigned long long* workspace, long long rows,
    long long cols) {
  using Statistic = typename Operator::Statistic;
  constexpr int inputs = Operator::inputs;
  constexpr int warps = block_size / 32;
  constexpr int places = lag + 1;
  // The edges of a row are a share of their own.
  constexpr int letters = shares + (ragged ? 1 : 0);
  using Mail = Letters<Statistic, letters, places>;
  static_assert(ring >= packs * places, "the ring holds the rows that wait for an answer");
  extern __shared__ __align__(16) unsigned char dynamic_shared[];
  __shared__ Statistic of_warp[places][power_of_two_from(warps)];
  __shared__ Statistic of_row[places];
  // Ends when all warps have left their statistic in of_warp; when of_row is there.
  __shared__ __align__(8) unsigned long long reported[places], known[places];

  const int share = blockIdx.x % shares;
  const int group = blockIdx.x / shares;
  const int groups = gridDim.x / shares;
  const int turns = group < rows ? static_cast<int>((rows - 1 - group) / groups) + 1 : 0;
  const auto part_of_turn = [&](int turn, int member) {
    return part_of<pack_size, ragged>(
        source[0], group + static_cast<long long>(turn) * groups, rows, cols, member, share, shares);
  };

  Pack<T, pack_size>* const own = reinterpret_cast<Pack<T, pack_size>*>(dynamic_shared) + threadIdx.x;
  const auto place = [&](int k, int at) -> Pack<T, pack_size>& { return own[(k * ring + at) * block_size]; };
  const auto load = [&](const Part& part, int j, int at) {
    const int pack = part.first + j * block_size;
    if (pack < part.stop) {
#pragma unroll
      for (int k = 0; k < inputs; ++k) {
        copy_async<T, pack_size>(&place(k, at), source[k] + part.template pack_at<pack_size>(pack));
      }
    }
    commit_copies();
  };

  Part part;
  if (threadIdx.x < block_size) {
#pragma unroll
    for (int at = 0; at < ring; ++at) {
      if (at % packs == 0) { part = part_of_turn(at / packs, threadIdx.x); }
      load(part, at % packs, at);
    }
  }
  if (threadIdx.x < places) { barrier_init(&reported[threadIdx.x], warps), barrier_init(&known[threadIdx.x], 1); }
  for (int i = threadIdx.x; i < places * power_of_two_from(warps); i += block_size + 64) {
    of_warp[i / power_of_two_from(warps)][i % power_of_two_from(warps)] = Operator::of_nothing();
  }
  __syncthreads();

  if (threadIdx.x < block_size) {
    // Where the row begins that is looked at next, and the one that is written next.
    int looked = 0, looked_place = 0, written = 0, written_place = 0, parity = 0;
    const auto after = [](int at, int j) { return at + j < ring ? at + j : at + j - ring; };
    for (int turn = 0; turn < turns + lag; ++turn) {
      if (turn < turns) {
        part = part_of_turn(turn, threadIdx.x);
        Held<Operator, pack_size, packs, block_size, false> held;
        // Of the first row, only the row itself; then as many as are on their way when `lag` rows wait for answers.
        if (turn == 0) {
          await_copies_but<ring - packs>();
        } else {
          await_copies_but<ring - packs * places>();
        }
#pragma unroll
        for (int j = 0; j < packs; ++j) {
          held.body[j].fill();
          if (part.first + j * block_size < part.stop) {
#pragma unroll
            for (int k = 0; k < inputs; ++k) { held.body[j].of[k].word = place(k, after(looked, j)).word; }
          }
        }
        const Statistic statistic = Operator::template of_group<32>(held);
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
          of_warp[looked_place][threadIdx.x / 32] = statistic;
          barrier_arrive(&reported[looked_place]);
        }
        if constexpr (Operator::keeps_exponential) {
#pragma unroll
          for (int j = 0; j < packs; ++j) {
            if (part.first + j * block_size < part.stop) {
              place(0, after(looked, j)).word = held.body[j].of[0].word;
            }
          }
        }
        looked = after(looked, packs);
        if (++looked_place == places) { looked_place = 0; }
      }
      if (turn >= lag) {
        part = part_of_turn(turn - lag, threadIdx.x);
        const Part next = part_of_turn(turn - lag + ring / packs, threadIdx.x);
        const Part second = ring % packs ? part_of_turn(turn - lag + ring / packs + 1, threadIdx.x) : next;
        barrier_await(&known[written_place], parity);
        const typename Operator::Result result(of_warp[written_place][threadIdx.x / 32], of_row[written_place]);
#pragma unroll
        for (int j = 0; j < packs; ++j) {
          const int at = after(written, j);
          const int pack = part.first + j * block_size;
          if (pack < part.stop) {
            Packs<Operator, pack_size> values;
#pragma unroll
            for (int k = 0; k < inputs; ++k) { values.of[k].word = place(k, at).word; }
            values.template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
            store_if(true, target + part.template pack_at<pack_size>(pack), values.of[0].word);
          }
          constexpr int ahead = ring % packs;
          load(j + ahead < packs ? next : second, (j + ahead) % packs, at);
        }
        written = after(written, packs);
        if (++written_place == places) { written_place = 0, parity ^= 1; }
      }
    }
    return;
  }

  using Anew = typename Operator::Anew;
  using Edges = Held<Anew, pack_size, 1, 32, ragged>;
  const int lane = threadIdx.x % 32;
  const bool reporter = threadIdx.x < block_size + 32;
  const Mail mail(workspace + static_cast<long long>(group) * Mail::workspace_words);
  const auto edges_of = [&](int turn) {
    Part part = part_of_turn(turn, lane);
    part.stop = 0;
    return part;
  };
  // The listener, too, must have read this before a letter leaves: once all letters have come it may change.
  __shared__ unsigned int rows_before;
  if (reporter) { rows_before = mail.rows_before(); }
  asm volatile("bar.sync 1, 64;" ::: "memory");
  const unsigned int first = rows_before + 1;

  if (reporter) {
    for (int turn = 0; turn < turns; ++turn) {
      Edges edges;
      if constexpr (ragged) {
        if (share == 0) { edges.load(edges_of(turn), source); }
      }
      // Only then is everybody done with the letters that had these places before.
      barrier_await(&reported[turn % places], turn / places % 2);
      if constexpr (ragged) {
        if (share == 0) {
          const Statistic statistic = Anew::template of_group<32>(edges);
          if (lane == 0) { mail.write(turn, first + turn, shares, statistic); }
        }
      }
      const Statistic statistic = Operator::template of_parts<power_of_two_from(warps)>(of_warp[turn % places]);
      if (lane == 0) { mail.write(turn, first + turn, share, statistic); }
    }
    return;
  }
  for (int turn = 0; turn < turns; ++turn) {
    Edges edges;
    if constexpr (ragged) {
      if (share == 0) { edges.load(edges_of(turn), source); }
    }
    // Then of_row's place is free as well: the block's threads have written the row that had it before.
    barrier_await(&reported[turn % places], turn / places % 2);
    Statistic statistic[(letters + 31) / 32];
    mail.read(turn, first + turn, lane, statistic, Operator::of_nothing());
    const Statistic row = Operator::of_lanes(statistic);
    if (lane == 0) {
      of_row[turn % places] = row;
      barrier_arrive(&known[turn % places]);
    }
    __syncwarp();
    if constexpr (ragged) {
      if (share == 0) { edges.store(edges_of(turn), target, typename Anew::Result(row, row)); }
    }
  }
  if (share == 0 && lane == 0 && turns > 0) { mail.set_rows_before(rows_before + turns); }
}

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int ring, int lag, int block_size, int shares,
    bool ragged>
__global__ void __launch_bounds__(block_size + 64, 1)
    fast_grid(const T* x, T* y, unsigned long long* workspace, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_grid_rows<Forward<T, algorithm>, pack_size, packs, ring, lag, block_size, shares, ragged>(
      source, y, workspace, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int ring, int lag, int block_size, int shares,
    bool ragged>
__global__ void __launch_bounds__(block_size + 64, 1)
    fast_grid_backward(
        const T* dy, const T* y, T* dx, unsigned long long* workspace, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_grid_rows<Backward<T, algorithm>, pack_size, packs, ring, lag, block_size, shares, ragged>(
      source, dx, workspace, rows, cols);
}
