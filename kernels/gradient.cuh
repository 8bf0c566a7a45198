// What the gradient kernels compute of a row, from the forward result y and the gradient dy that arrives at it.
//
//   softmax       dx = (dy - sum(y * dy)) * y
//   log_softmax   dx = dy - exp(y) * sum(dy)
//
// Idea     y already holds all that the forward pass knew of x, so x is not read again, and there is no maximum to
//          find: one sum over the row instead of two reductions.
// Edges    Nothing is treated specially, so dx has what the formula has: a NaN in the sum makes softmax's row NaN; a y
//          of 0 (of -inf under log_softmax) gives 0 (gives dy) while the sum is finite.
// Source   The chain rule on y = exp(x) / sum(exp(x)): dy_i/dx_j = y_i * (delta_ij - y_j).
#pragma once

#include "algorithm.cuh"

// What an element adds to its row's sum.
template<Algorithm algorithm, typename Compute>
__device__ Compute gradient_term(Compute dy, Compute y) {
  return algorithm == Algorithm::softmax ? y * dy : dy;
}

template<Algorithm algorithm, typename Compute>
__device__ Compute gradient(Compute dy, Compute y, Compute row_sum) {
  return algorithm == Algorithm::softmax ? (dy - row_sum) * y : dy - exponential(y) * row_sum;
}
