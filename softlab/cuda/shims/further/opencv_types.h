// What kernels use of OpenCV's headers, where these are not there: matrices of the device as parameters, whose rows are
// ``step`` bytes apart.
#ifndef SOFTLAB_OPENCV_TYPES_H
#define SOFTLAB_OPENCV_TYPES_H

typedef unsigned char uchar;
typedef unsigned short ushort;
namespace cv {
typedef ::uchar uchar;
namespace cuda {
#define SOFTLAB_ROWS                                                                                            \
  __host__ __device__ T* ptr(int y = 0) { return (T*)((char*)data + y * step); }                                \
  __host__ __device__ const T* ptr(int y = 0) const { return (const T*)((const char*)data + y * step); }        \
  __host__ __device__ T& operator()(int y, int x) { return ptr(y)[x]; }                                         \
  __host__ __device__ const T& operator()(int y, int x) const { return ptr(y)[x]; }                             \
  __host__ __device__ operator T*() { return data; }                                                            \
  __host__ __device__ operator const T*() const { return data; }
template <typename T> struct PtrStep {
  typedef T elem_type;
  T* data;
  size_t step;
  SOFTLAB_ROWS
};
template <typename T> struct PtrStepSz {
  typedef T elem_type;
  T* data;
  size_t step;
  int cols, rows;
  SOFTLAB_ROWS
  __host__ __device__ operator PtrStep<T>() const { return PtrStep<T>{data, step}; }
};
#undef SOFTLAB_ROWS
typedef PtrStep<unsigned char> PtrStepb;
typedef PtrStep<float> PtrStepf;
typedef PtrStep<int> PtrStepi;
typedef PtrStepSz<unsigned char> PtrStepSzb;
typedef PtrStepSz<float> PtrStepSzf;
typedef PtrStepSz<int> PtrStepSzi;
}  // namespace cuda
namespace gpu {
using namespace cuda;
}  // namespace gpu
}  // namespace cv
#endif
