// Vertices and matrices in memory as DirectXMath has them: numbers one after the other, matrices by rows.
#ifndef SOFTLAB_DIRECTX_TYPES_H
#define SOFTLAB_DIRECTX_TYPES_H

namespace DirectX {

#define SOFTLAB_DIRECTX_VECTORS(name, T)                                                                    \
  struct name##2 {                                                                                          \
    T x, y;                                                                                                 \
    name##2() = default;                                                                                    \
    __host__ __device__ constexpr name##2(T x_, T y_) : x(x_), y(y_) {}                                     \
  };                                                                                                        \
  struct name##3 {                                                                                          \
    T x, y, z;                                                                                              \
    name##3() = default;                                                                                    \
    __host__ __device__ constexpr name##3(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}                        \
  };                                                                                                        \
  struct name##4 {                                                                                          \
    T x, y, z, w;                                                                                           \
    name##4() = default;                                                                                    \
    __host__ __device__ constexpr name##4(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {}           \
  };
SOFTLAB_DIRECTX_VECTORS(XMFLOAT, float)
SOFTLAB_DIRECTX_VECTORS(XMINT, int)
SOFTLAB_DIRECTX_VECTORS(XMUINT, unsigned int)
#undef SOFTLAB_DIRECTX_VECTORS
#define SOFTLAB_DIRECTX_MATRIX(rows, columns)                                                               \
  struct XMFLOAT##rows##X##columns {                                                                        \
    float m[rows][columns];                                                                                 \
    __host__ __device__ float operator()(size_t row, size_t column) const { return m[row][column]; }        \
    __host__ __device__ float& operator()(size_t row, size_t column) { return m[row][column]; }             \
  };
SOFTLAB_DIRECTX_MATRIX(3, 3)
SOFTLAB_DIRECTX_MATRIX(4, 3)
SOFTLAB_DIRECTX_MATRIX(3, 4)
SOFTLAB_DIRECTX_MATRIX(4, 4)
#undef SOFTLAB_DIRECTX_MATRIX

}  // namespace DirectX
#endif
