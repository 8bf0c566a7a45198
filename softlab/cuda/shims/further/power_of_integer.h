// NVRTC has a pow of a float and an int whose result is a float. With this one a call of it is ambiguous, which says that
// a source needs mixed_math.h.
__host__ __device__ double pow(const float& x, const int& y);
