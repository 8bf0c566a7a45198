// What a lane keeps of a row in the compute type: its elements of each input, as the operators visit them.
//
// Idea     16-bit elements as floats take twice the registers, but they are converted once. fast_tile converts what it
//          takes from shared memory, and fast_fused what it has scaled and masked.
// Limits   All elements are computed with: a lane fills those that it does not have with the operator's filler.
#pragma once

#include "larger.cuh"

// A lane's elements of one row, in the compute type.
template<class Operator, int count>
struct LaneElements {
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;

  Compute elem[inputs][count];

  template<bool propagate = false>
  __device__ Compute largest() const {
    Compute result = elem[0][0];
#pragma unroll
    for (int i = 1; i < count; ++i) { result = larger_of<propagate>(result, elem[0][i]); }
    return result;
  }
  // Calls f for each column with an array of the inputs' values. With `change`, the first input takes what f leaves in
  // values[0].
  template<bool change, class Function>
  __device__ void visit(Function f) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      Compute values[inputs];
#pragma unroll
      for (int k = 0; k < inputs; ++k) { values[k] = elem[k][i]; }
      f(values);
      if constexpr (change) { elem[0][i] = values[0]; }
    }
  }
};
