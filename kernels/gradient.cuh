// What the gradient kernels compute from a row: the forward result y and the gradient dy with respect to y.
//
//   softmax       dx = (dy - sum(y * dy)) * y
//   log_softmax   dx = dy - exp(y) * sum(dy)
//
// Idea     y holds everything that the gradient needs of x. So x is not read again, and there is no maximum to find:
//          one sum over the row instead of two reductions.
// Edges    No value is special, so dx is what the formula gives: a NaN in the sum makes softmax's row NaN. While the
//          sum is finite, y = 0 gives dx = 0 in softmax, and y = -inf gives dx = dy in log_softmax.
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
