// For NVRTC, CUTLASS makes an enum of the names that libcu++ has as macros, with the same values.
#include <cuda/std/cmath>
#undef FP_NAN
#undef FP_INFINITE
#undef FP_ZERO
#undef FP_SUBNORMAL
#undef FP_NORMAL
