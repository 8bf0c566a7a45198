// Intrinsics of warps without a mask, which sm_70 and later GPUs have no more. The lanes that are at the call take part,
// as they did when all lanes of a warp were in lock step.
#ifndef SOFTLAB_OLD_INTRINSICS_H
#define SOFTLAB_OLD_INTRINSICS_H

#define SOFTLAB_SHUFFLE(name, lane_type)                                                                        \
  template <typename T> __device__ inline T name(T value, lane_type lane, int width = 32) {                     \
    return name##_sync(__activemask(), value, lane, width);                                                    \
  }
SOFTLAB_SHUFFLE(__shfl, int)
SOFTLAB_SHUFFLE(__shfl_up, unsigned int)
SOFTLAB_SHUFFLE(__shfl_down, unsigned int)
SOFTLAB_SHUFFLE(__shfl_xor, int)
#undef SOFTLAB_SHUFFLE
#define __any(predicate) __any_sync(__activemask(), predicate)
#define __all(predicate) __all_sync(__activemask(), predicate)
#define __ballot(predicate) __ballot_sync(__activemask(), predicate)
#endif
