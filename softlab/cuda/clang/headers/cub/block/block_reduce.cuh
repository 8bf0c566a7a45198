// A sum or another reduction over a block: each warp by shuffles, then thread 0 over the results of the warps.
//
// The interface is that of cub::BlockReduce with its default algorithm. Blocks of one dimension and whole warps.
#pragma once

namespace cub {

template <typename T, int block_size> class BlockReduce {
  static constexpr int warps = (block_size + 31) / 32;

 public:
  struct TempStorage {
    T of_warp[warps];
  };
  __device__ explicit BlockReduce(TempStorage& storage) : storage(storage) {}

  template <typename Combine> __device__ T Reduce(T value, Combine combine) {
    static_assert(block_size % 32 == 0, "whole warps");
    const int lane = threadIdx.x % 32;
    for (int far = 1; far < 32; far *= 2) {
      const T other = __shfl_down_sync(0xffffffffu, value, far);
      if (lane + far < 32) { value = combine(value, other); }
    }
    if (lane == 0) { storage.of_warp[threadIdx.x / 32] = value; }
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
      for (int warp = 1; warp < warps; ++warp) { value = combine(value, storage.of_warp[warp]); }
    }
    return value;
  }
  __device__ T Sum(T value) {
    return Reduce(value, [](T a, T b) { return a + b; });
  }

 private:
  TempStorage& storage;
};

}  // namespace cub
