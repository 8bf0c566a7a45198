// Stores that do more than write: each changes its input in registers and passes it to another store.
//
// Idea     The counterpart of fused_load.cuh. Forward, dropout comes after the softmax. Backward, a store repeats on dx
//          what the load did to x: it multiplies by the same scale, and writes 0 where a fill value replaced x.
// Traffic  The inner store's, and the operand's. DropoutStore writes two results: the softmax, which the gradient
//          needs, and the softmax with dropout.
// Limits   Those of the inner store. Nested stores run from the outside in.
// Source   OneFlow's fused softmax (the backward functors of fused_load.cuh's, and ScaleMaskSoftmaxDropout).
#pragma once

#include "broadcast.cuh"
#include "dropout.cuh"
#include "load_store.cuh"

template<typename Compute, typename Inner>
struct ScaleStore {
  Inner inner;
  Compute scale;

  template<int pack_size>
  __device__ void store(const Compute* source, long long row, long long col) const {
    Compute scaled[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { scaled[i] = source[i] * scale; }
    inner.template store<pack_size>(scaled, row, col);
  }
};

// 0 where the mask is 0: a fill value does not depend on x.
template<typename Compute, typename Inner, typename Mask>
struct MaskStore {
  Inner inner;
  Mask mask;

  template<int pack_size>
  __device__ void store(const Compute* source, long long row, long long col) const {
    unsigned char kept[pack_size];
    mask.template read<pack_size>(kept, row, col);
    Compute masked[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { masked[i] = kept[i] ? source[i] : Compute(0); }
    inner.template store<pack_size>(masked, row, col);
  }
};

// 0 beyond the diagonal: see CausalLoad.
template<typename Compute, typename Inner>
struct CausalStore {
  Inner inner;
  long long matrix_rows;
  long long diagonal;

  template<int pack_size>
  __device__ void store(const Compute* source, long long row, long long col) const {
    const long long last = row % matrix_rows + diagonal;
    Compute masked[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { masked[i] = col + i <= last ? source[i] : Compute(0); }
    inner.template store<pack_size>(masked, row, col);
  }
};

template<typename Compute, typename Result, typename Dropped>
struct DropoutStore {
  Result result;
  Dropped dropped;
  Dropout<Compute> dropout;

  template<int pack_size>
  __device__ void store(const Compute* source, long long row, long long col) const {
    result.template store<pack_size>(source, row, col);
    Compute values[pack_size];
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { values[i] = source[i]; }
    dropout.template apply<pack_size>(values, row, col);
    dropped.template store<pack_size>(values, row, col);
  }
};
