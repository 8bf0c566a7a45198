// The larger of two numbers, where one may be NaN.
//
// Idea     fmax returns the other operand where one is NaN. A sum finds the NaN later. Where no sum would find it, the
//          maximum must be NaN itself: since sm_80 one instruction does that.
// Idea     For doubles fmax takes up to seven instructions more than a comparison and a selection, for NaN alone. Where
//          a sum finds the NaN, it does not matter which of the two wins.
// Source   PTX ISA, "max".
#pragma once

#if __CUDA_ARCH__ >= 800
#define SOFTLAB_MAX_NAN 1
#else
#define SOFTLAB_MAX_NAN 0
#endif

template<bool propagate, typename Compute>
__device__ Compute larger_of(Compute a, Compute b) {
  if constexpr (!propagate && sizeof(Compute) == 8) {
    return a > b ? a : b;
  } else if constexpr (!propagate) {
    return fmax(a, b);
  } else if constexpr (sizeof(Compute) == 4 && SOFTLAB_MAX_NAN) {
    float larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
    return larger;
  } else {
    return a > b || a != a ? a : b;
  }
}

template<typename Compute>
struct Larger {
  __device__ Compute operator()(Compute a, Compute b) const { return larger_of<false>(a, b); }
};
