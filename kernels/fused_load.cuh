// Loads that do more than read: each changes in registers what another load returns.
//
// Idea     softmax(mask(scale * x)) as three kernels moves the matrix three times. As loads of one kernel, scale and
//          mask cost only what they read: nothing, and one byte per element or less. A load contains the load that it
//          wraps: `MaskLoad<C, ScaleLoad<C, DirectLoad<T, C>>, M>` scales, then masks; the kernel sees one load.
// Traffic  The inner load's, and the operand's. CausalLoad reads nothing beyond the diagonal.
// Limits   Those of the inner load. Nested loads run from the inside out.
// Source   OneFlow's fused softmax (FusedScaleMaskSoftmax, FusedBiasMaskScale, FusedTrilScaleSoftmaxMaskScale).
#pragma once

#include "broadcast.cuh"
#include "dropout.cuh"

template<typename Compute, typename Inner>
struct ScaleLoad {
  Inner inner;
  Compute scale;

  template<int pack_size>
  __device__ void load(Compute* destination, long long row, long long col) const {
    inner.template load<pack_size>(destination, row, col);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] *= scale; }
  }
};

// Bias is a Broadcast of the matrix's element type.
template<typename Compute, typename Inner, typename Element, typename Bias>
struct BiasLoad {
  Inner inner;
  Bias bias;

  template<int pack_size>
  __device__ void load(Compute* destination, long long row, long long col) const {
    inner.template load<pack_size>(destination, row, col);
    Element added[pack_size];
    bias.template read<pack_size>(added, row, col);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] += static_cast<Compute>(added[i]); }
  }
};

// Mask is a Broadcast of bytes: where it is 0 the element is `fill`, whatever it was.
template<typename Compute, typename Inner, typename Mask>
struct MaskLoad {
  Inner inner;
  Mask mask;
  Compute fill;

  template<int pack_size>
  __device__ void load(Compute* destination, long long row, long long col) const {
    inner.template load<pack_size>(destination, row, col);
    unsigned char kept[pack_size];
    mask.template read<pack_size>(kept, row, col);
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] = kept[i] ? destination[i] : fill; }
  }
};

// The rows are those of one matrix after another, matrix_rows each. Row r of a matrix keeps the columns up to
// r + diagonal. A pack that lies beyond is not read.
template<typename Compute, typename Inner>
struct CausalLoad {
  Inner inner;
  long long matrix_rows;
  long long diagonal;
  Compute fill;

  template<int pack_size>
  __device__ void load(Compute* destination, long long row, long long col) const {
    const long long last = row % matrix_rows + diagonal;
    if (col <= last) { inner.template load<pack_size>(destination, row, col); }
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] = col + i <= last ? destination[i] : fill; }
  }
};

// The gradient at the softmax of the gradient at its dropout.
template<typename Compute, typename Inner>
struct DropoutLoad {
  Inner inner;
  Dropout<Compute> dropout;

  template<int pack_size>
  __device__ void load(Compute* destination, long long row, long long col) const {
    inner.template load<pack_size>(destination, row, col);
    dropout.template apply<pack_size>(destination, row, col);
  }
};
