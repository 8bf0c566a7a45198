// Long rows along another axis than the last: blocks anywhere on the GPU share a strip of neighbouring rows.
//
// Readers  Read fast_strided.cuh, fast_mailbox.cuh and fast_grid.cuh first.
// Idea     A cluster of 16 blocks holds rows of thousands of elements only in strips of 32 to 64 bytes, and longer rows
//          not at all: they are read twice. Here dozens of blocks share a strip, one per SM, up to all of the GPU. So a
//          strip is as wide as a line of memory, 128 bytes, and each element is read once.
// Idea     One block per SM must keep memory busy alone. So it has several strips in shared memory at once, in a ring
//          of stages, and its warps have roles. While one strip waits for its statistics, others are loaded, computed
//          and written.
// Steps    load     the result warps copy the block's lines of a strip into shared memory, by cp.async
//          compute  the statistic warps take the partial statistics of all rows of the strip, and publish them in a
//                   mailbox in global memory
//          merge    two warps merge the partials of a few rows for the whole group, and publish those in a second one
//          read     two warps read the merged statistics of all rows, and make results of them
//          write    the result warps write the strip, and load a later one into its stage
// Idea     Where 16 bytes do not divide the stride, a line of a strip begins in the middle of 16 bytes. It is copied
//          from the 16 bytes that hold its first element to those that hold its last one, and lies as far behind a
//          multiple of 16 bytes in shared memory as in global memory. Threads then take packs that divide the stride.
// Traffic  Global memory: each element read once and written once; with `shifted` up to 30 more bytes per line of a
//          strip. A block writes and reads 16 bytes per row of a strip, and reads the partials of its share of rows.
// Launch   block 2 * block_size + 128; groups * blocks_per_strip blocks, all resident at once (a cooperative launch);
//          dynamic_bytes() of shared memory; a workspace of 8 * workspace_words per group. The workspace is zero before
//          its first launch, and two launches never use it at the same time.
// Limits   sm_90; no doubles. pack_size divides stride and width, and the arrays begin at a multiple of 16 bytes.
//          `shifted` tells that stride is not a multiple of 16 bytes; then x and y do not overlap, because a block
//          reads elements that its neighbour writes. Else a strip is a multiple of 16 bytes wide. width is even.
// Measured kernels/FAST.md, "Other axes".
// Source   PTX ISA, "Memory Consistency Model", "cp.async", "mbarrier".
//
// Invariants. A group is the `blocks_per_strip` blocks that share strips. Its strips have the iterations t = 0, 1, ...
//   1. Strip t uses slot t % stages of everything: stage, mbarriers, results, both mailboxes. The phase of the
//      mbarriers has the parity t / stages % 2. Partials of the block's own threads have two slots.
//   2. The result warps load strip t after they have written strip t - stages: a barrier of these warps lies between.
//      They wrote it after this block's read step had all merged statistics of that strip.
//   3. So a block that publishes partials of strip t has read all merged statistics of strip t - stages. These were
//      published after the merge steps had all partials of it. So the partials of strip t - stages may be overwritten.
//   4. A merge step publishes a row of strip t after all blocks have published their partials of it. By 3 they have
//      then read the merged statistics of strip t - stages, which may be overwritten.
//   5. The read step stores results of strip t after `published`: by 2 its result warps have written strip t - stages.
//   6. The threads that store partials of strip t have passed the barrier of strip t - 1, so all of them have read the
//      partials of strip t - 2.
//   7. Tags grow from launch to launch: the workspace counts the strips of earlier launches. All threads read the count
//      before their block publishes anything. It changes after all merged statistics of the last strip have come.
#pragma once

#include "fast_launch.cuh"
#include "fast_mailbox.cuh"
#include "fast_strip.cuh"

// Copies the first `bytes` of 16 bytes, and zeros for the others.
__device__ inline void copy_first_bytes(void* shared, const void* address, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(address), "r"(bytes)
               : "memory");
}

// All threads of a role wait for one another; the block's other threads do not.
template<int role, int threads>
__device__ void role_barrier() {
  asm volatile("bar.sync %0, %1;" ::"n"(role), "n"(threads) : "memory");
}

template<
    class Operator, int pack_size, int width, int stages, int block_size, int blocks_per_strip, bool shifted>
class StripGrid {
  using T = typename Operator::Element;
  using Statistic = typename Operator::Statistic;
  using Result = typename Operator::Result;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;
  static constexpr int chunk = 4;                     // packs of each input that a thread has at once
  static constexpr int across = width / pack_size;    // threads side by side
  static constexpr int depth = block_size / across;   // lines that a role's threads take at once
  static constexpr int pitch = (width * sizeof(T) + 15) / 16 * 16 + (shifted ? 16 : 0);  // bytes of a line in a stage
  static constexpr int warps = block_size / 32;
  static constexpr int mailbox_warps = 2;             // for each of the steps merge and read
  static constexpr int half = width / mailbox_warps;  // rows of a reading warp
  static_assert(sizeof(Compute) == 4, "a statistic is one access to the mailbox");
  static_assert(across * pack_size == width && half * mailbox_warps == width, "whole packs, an even width");
  static_assert(depth >= 1, "a line of a strip has no more packs than a role has threads");
  static_assert(shifted || width * sizeof(T) % 16 == 0, "copies of 16 bytes");
  static_assert(stages % 2 == 0, "the mailboxes keep an even number of rows");
  // A place of a mailbox is a row, or a reading warp's half of the rows, in a slot.
  using Partials = Mailbox<Statistic, blocks_per_strip, stages * width / 2>;
  using Merged = Mailbox<Statistic, half, stages * mailbox_warps / 2>;

 public:
  static constexpr int workspace_words = Partials::workspace_words + Merged::workspace_words;
  struct Shared {
    unsigned long long loaded[stages], published[stages], ready[stages];
    Statistic partial[2][depth][width];
    Result result[stages][width];
  };

 private:
  // The rows of a strip are ordered by their place in a pack, so that neighbouring threads use neighbouring banks.
  static __device__ int place(int e, int thread) { return e * across + thread; }

  const T* const (&source_)[inputs];
  T* target_;
  long long cols_, stride_, all_;
  Shared& shared_;
  unsigned char* staged_;
  Partials partials_;
  Merged merged_;
  int group_, groups_, rank_, strips_, iterations_, lines_, stage_bytes_;
  long long first_line_;
  unsigned int first_tag_;

  // The block's part of a strip: the offset of its first element, and how many rows there are.
  struct Part {
    long long start;
    int rows;
  };
  __device__ Part part_of(int iteration) const {
    const long long strip = group_ + static_cast<long long>(iteration) * groups_;
    const long long outer = strip / strips_, first_row = strip % strips_ * width;
    const long long rows = min(static_cast<long long>(width), stride_ - first_row);
    return {(outer * cols_ + first_line_) * stride_ + first_row, static_cast<int>(rows)};
  }
  __device__ unsigned char* stage(int iteration) const { return staged_ + iteration % stages * inputs * stage_bytes_; }
  static __device__ int parity(int iteration) { return iteration / stages % 2; }
  // How far behind a multiple of 16 bytes an element lies. The low bits of its offset suffice.
  static __device__ int shift_of(unsigned int offset) { return shifted ? offset * sizeof(T) % 16 : 0; }

  // The packs of a thread, chunk by chunk: f(its packs, the number of its first line).
  template<class Function>
  __device__ void each_chunk(const Part& part, const unsigned char* stage, int thread, Function f) const {
    const int first = thread / across, bytes = thread % across * pack_size * sizeof(T);
#pragma unroll 1
    for (int line = first; line < lines_; line += depth * chunk) {
      InputPacks<Operator, pack_size> body[chunk];
#pragma unroll
      for (int j = 0; j < chunk; ++j) {
        const int now = line + j * depth;
        body[j].fill();
        if (now < lines_) {
          const int at = now * pitch + bytes + shift_of(static_cast<unsigned int>(part.start + now * stride_));
#pragma unroll
          for (int k = 0; k < inputs; ++k) {
            body[j].input[k].word = reinterpret_cast<const Pack<T, pack_size>*>(stage + k * stage_bytes_ + at)->word;
          }
        }
      }
      f(body, line);
    }
  }

 public:
  __device__ StripGrid(
      const T* const (&source)[inputs], T* target, unsigned long long* workspace, long long rows, long long cols,
      long long stride, Shared& shared, unsigned char* staged)
      : source_(source), target_(target), cols_(cols), stride_(stride), all_(rows * cols), shared_(shared),
        staged_(staged), partials_(workspace + blockIdx.x / blocks_per_strip * workspace_words),
        merged_(workspace + blockIdx.x / blocks_per_strip * workspace_words + Partials::workspace_words) {
    group_ = blockIdx.x / blocks_per_strip, groups_ = gridDim.x / blocks_per_strip;
    rank_ = blockIdx.x % blocks_per_strip;
    strips_ = static_cast<int>((stride + width - 1) / width);
    const long long all = rows / stride * strips_;
    iterations_ = group_ < all ? static_cast<int>((all - 1 - group_) / groups_) + 1 : 0;
    const int share = static_cast<int>((cols + blocks_per_strip - 1) / blocks_per_strip);
    first_line_ = static_cast<long long>(rank_) * share;
    lines_ = static_cast<int>(max(0ll, min(cols - first_line_, static_cast<long long>(share))));
    stage_bytes_ = share * pitch;
    first_tag_ = partials_.rows_before() + 1;
  }

  __device__ void init_barriers() const {
    if (threadIdx.x < stages) {
      barrier_init(&shared_.loaded[threadIdx.x], block_size);
      barrier_init(&shared_.published[threadIdx.x], warps * arrivals_of_warp);
      barrier_init(&shared_.ready[threadIdx.x], mailbox_warps * arrivals_of_warp);
    }
  }

  __device__ void load(int iteration, int thread) const {
    if (iteration >= iterations_) { return; }
    constexpr int packs = pitch / 16;
    const Part part = part_of(iteration);
    unsigned char* const into = stage(iteration);
#pragma unroll 4
    for (int i = thread; i < lines_ * packs; i += block_size) {
      const int line = i / packs, bytes = i % packs * 16;
      const long long offset = part.start + line * stride_;
      const int shift = shift_of(static_cast<unsigned int>(offset));
      if (bytes >= shift + part.rows * static_cast<int>(sizeof(T))) { continue; }
      const long long first = offset + (bytes - shift) / static_cast<int>(sizeof(T));
#pragma unroll
      for (int k = 0; k < inputs; ++k) {
        unsigned char* const place = into + k * stage_bytes_ + line * pitch + bytes;
        if constexpr (shifted) {
          copy_first_bytes(place, source_[k] + first, static_cast<int>(min(16ll, (all_ - first) * sizeof(T))));
        } else {
          copy_async<T, 16 / sizeof(T)>(reinterpret_cast<Pack<T, 16 / sizeof(T)>*>(place), source_[k] + first);
        }
      }
    }
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     shared_address(&shared_.loaded[iteration % stages]))
                 : "memory");
  }

  __device__ void compute(int thread) const {
#pragma unroll 1
    for (int t = 0; t < iterations_; ++t) {
      const Part part = part_of(t);
      Statistic(&partial)[depth][width] = shared_.partial[t % 2];
      barrier_wait(&shared_.loaded[t % stages], parity(t));
      if (thread < depth * across) {
        Statistic own[pack_size];
#pragma unroll
        for (int e = 0; e < pack_size; ++e) { own[e] = Operator::identity(); }
        if (thread % across * pack_size < part.rows) {
          each_chunk(part, stage(t), thread, [&](InputPacks<Operator, pack_size>(&body)[chunk], int) {
            each_row_after([&](int e) { return own[e]; }, body, [&](int e, const Statistic& now) { own[e] = now; });
          });
        }
#pragma unroll
        for (int e = 0; e < pack_size; ++e) { partial[thread / across][place(e, thread % across)] = own[e]; }
      }
      role_barrier<1, block_size>();
      for (int row = thread; row < width; row += block_size) {
        Statistic whole = partial[0][row];
        for (int d = 1; d < depth; ++d) { merge_into(whole, partial[d][row]); }
        partials_.publish(t % stages * width + row, first_tag_ + t, rank_, whole);
      }
      warp_arrive(&shared_.published[t % stages]);
    }
  }

  __device__ void merge(int warp) const {
    constexpr int each = (blocks_per_strip + 31) / 32;
#pragma unroll 1
    for (int t = 0; t < iterations_; ++t) {
      for (int row = rank_ + warp * blocks_per_strip; row < width; row += mailbox_warps * blocks_per_strip) {
        Statistic partial[each];
        partials_.poll(t % stages * width + row, first_tag_ + t, threadIdx.x % 32, partial, Operator::identity());
        const Statistic whole = merged<Operator, each, 32>([&](int i) { return partial[i]; });
        if (threadIdx.x % 32 == 0) {
          merged_.publish(t % stages * mailbox_warps + row / half, first_tag_ + t, row % half, whole);
        }
      }
    }
  }

  __device__ void read(int warp) const {
    constexpr int each = (half + 31) / 32;
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int t = 0; t < iterations_; ++t) {
      barrier_wait(&shared_.published[t % stages], parity(t));
      Statistic whole[each];
      merged_.poll(t % stages * mailbox_warps + warp, first_tag_ + t, lane, whole, Operator::identity());
#pragma unroll
      for (int e = 0; e < each; ++e) {
        if (lane + e * 32 < half) { shared_.result[t % stages][warp * half + lane + e * 32] = Result(whole[e]); }
      }
      warp_arrive(&shared_.ready[t % stages]);
    }
    if (rank_ == 0 && warp == 0 && lane == 0 && iterations_ > 0) {
      partials_.set_rows_before(first_tag_ - 1 + iterations_);
    }
  }

  __device__ void write(int thread) const {
#pragma unroll 1
    for (int t = 0; t < iterations_; ++t) {
      const Part part = part_of(t);
      barrier_wait(&shared_.ready[t % stages], parity(t));
      const int first = thread % across * pack_size;
      if (thread < depth * across && first < part.rows) {
        Result result[pack_size];
#pragma unroll
        for (int e = 0; e < pack_size; ++e) { result[e] = shared_.result[t % stages][place(e, thread % across)]; }
        each_chunk(part, stage(t), thread, [&](InputPacks<Operator, pack_size>(&body)[chunk], int line) {
          T* to = target_ + part.start + line * stride_ + first;
#pragma unroll
          for (int j = 0; j < chunk; ++j, to += depth * stride_) {
#pragma unroll
            for (int e = 0; e < pack_size; ++e) {
              Compute v[inputs];
#pragma unroll
              for (int k = 0; k < inputs; ++k) { v[k] = static_cast<Compute>(body[j].input[k].elem[e]); }
              body[j].input[0].elem[e] = static_cast<T>(result[e](v));
            }
            store_if(line + j * depth < lines_, to, body[j].input[0].word);
          }
        });
      }
      role_barrier<2, block_size>();
      load(t + stages, thread);
    }
  }

 private:
  static __device__ void merge_into(Statistic& own, const Statistic& other) {
    if constexpr (inputs == 1) {
      const auto largest = larger_of<false>(own.largest, other.largest);
      own.sum = own.sum * Operator::scale(own.largest, largest) + other.sum * Operator::scale(other.largest, largest);
      own.largest = largest;
    } else {
      own.sum += other.sum;
    }
  }
};

template<
    class Operator, int pack_size, int width, int stages, int block_size, int blocks_per_strip, bool shifted,
    typename T>
__device__ void fast_strip_grid_rows(
    const T* const (&source)[Operator::inputs], T* target, unsigned long long* workspace, long long rows,
    long long cols, long long stride) {
  using Grid = StripGrid<Operator, pack_size, width, stages, block_size, blocks_per_strip, shifted>;
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  auto& shared = *reinterpret_cast<typename Grid::Shared*>(dynamic_shared);
  constexpr int before = (sizeof(typename Grid::Shared) + 127) / 128 * 128;
  follow_previous_kernel();
  const Grid grid(source, target, workspace, rows, cols, stride, shared, dynamic_shared + before);
  grid.init_barriers();
  __syncthreads();
  const int thread = threadIdx.x;
  if (thread < block_size) {
    grid.compute(thread);
  } else if (thread < 2 * block_size) {
#pragma unroll 1
    for (int t = 0; t < stages; ++t) { grid.load(t, thread - block_size); }
    grid.write(thread - block_size);
  } else if (thread < 2 * block_size + 64) {
    grid.merge((thread - 2 * block_size) / 32);
  } else {
    grid.read((thread - 2 * block_size - 64) / 32);
  }
}

template<
    typename T, Algorithm algorithm, int pack_size, int width, int stages, int block_size, int blocks_per_strip,
    bool shifted>
__global__ void __launch_bounds__(2 * block_size + 128, 1)
    fast_strip_grid(
        const T* x, T* y, unsigned long long* workspace, long long rows, long long cols, long long stride) {
  const T* const source[] = {x};
  fast_strip_grid_rows<
      StripForward<T, algorithm>, pack_size, width, stages, block_size, blocks_per_strip, shifted>(
      source, y, workspace, rows, cols, stride);
}

template<
    typename T, Algorithm algorithm, int pack_size, int width, int stages, int block_size, int blocks_per_strip,
    bool shifted>
__global__ void __launch_bounds__(2 * block_size + 128, 1)
    fast_strip_grid_backward(
        const T* dy, const T* y, T* dx, unsigned long long* workspace, long long rows, long long cols,
        long long stride) {
  const T* const source[] = {dy, y};
  fast_strip_grid_rows<Backward<T, algorithm>, pack_size, width, stages, block_size, blocks_per_strip, shifted>(
      source, dx, workspace, rows, cols, stride);
}
