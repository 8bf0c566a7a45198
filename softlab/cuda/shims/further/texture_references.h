// Texture and surface references, which CUDA 12 has no more. A reference is a constant variable that holds the handle
// of a texture: kernel.constants["name"] = softlab.Texture(array) binds it.
#ifndef SOFTLAB_TEXTURE_REFERENCES_H
#define SOFTLAB_TEXTURE_REFERENCES_H

template <typename T, int kind = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType> struct texture {
  cudaTextureObject_t object;
};
template <typename T, int kind = cudaSurfaceType1D> struct surface {
  cudaSurfaceObject_t object;
};

// What a fetch gives: the element, or floats in place of its integers.
template <typename T, cudaTextureReadMode mode> struct softlab_fetched { using type = T; };
#define SOFTLAB_NORMALIZED(T, vector)                                                                                \
  template <> struct softlab_fetched<T, cudaReadModeNormalizedFloat> { using type = float; };                        \
  template <> struct softlab_fetched<vector##1, cudaReadModeNormalizedFloat> { using type = float1; };               \
  template <> struct softlab_fetched<vector##2, cudaReadModeNormalizedFloat> { using type = float2; };               \
  template <> struct softlab_fetched<vector##4, cudaReadModeNormalizedFloat> { using type = float4; };
SOFTLAB_NORMALIZED(char, char)
SOFTLAB_NORMALIZED(unsigned char, uchar)
SOFTLAB_NORMALIZED(short, short)
SOFTLAB_NORMALIZED(unsigned short, ushort)
#undef SOFTLAB_NORMALIZED
template <> struct softlab_fetched<signed char, cudaReadModeNormalizedFloat> { using type = float; };

#define SOFTLAB_FETCH(name, kind, parameters, ...)                                                                  \
  template <typename T, cudaTextureReadMode mode>                                                                   \
  __device__ typename softlab_fetched<T, mode>::type name(const texture<T, kind, mode>& reference,                  \
                                                          SOFTLAB_LIST parameters) {                                \
    return name<typename softlab_fetched<T, mode>::type>(reference.object, __VA_ARGS__);                            \
  }
#define SOFTLAB_LIST(...) __VA_ARGS__
SOFTLAB_FETCH(tex1Dfetch, cudaTextureType1D, (int x), x)
SOFTLAB_FETCH(tex1D, cudaTextureType1D, (float x), x)
SOFTLAB_FETCH(tex2D, cudaTextureType2D, (float x, float y), x, y)
SOFTLAB_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), x, y, z)
SOFTLAB_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), x, layer)
SOFTLAB_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), x, y, layer)
SOFTLAB_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), x, y, z)
SOFTLAB_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), x, level)
SOFTLAB_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float level), x, y, level)
SOFTLAB_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), x, y, z, level)
#undef SOFTLAB_FETCH

#define SOFTLAB_SURFACE(read, write, kind, parameters, ...)                                                          \
  template <typename T, typename U>                                                                                 \
  __device__ T read(const surface<U, kind>& reference, SOFTLAB_LIST parameters,                                     \
                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                          \
    return read<T>(reference.object, __VA_ARGS__, mode);                                                            \
  }                                                                                                                 \
  template <typename T, typename U>                                                                                 \
  __device__ void read(T* found, const surface<U, kind>& reference, SOFTLAB_LIST parameters,                        \
                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                       \
    *found = read<T>(reference.object, __VA_ARGS__, mode);                                                          \
  }                                                                                                                 \
  template <typename T, typename U>                                                                                 \
  __device__ void write(T value, const surface<U, kind>& reference, SOFTLAB_LIST parameters,                        \
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                      \
    write(value, reference.object, __VA_ARGS__, mode);                                                              \
  }
SOFTLAB_SURFACE(surf1Dread, surf1Dwrite, cudaSurfaceType1D, (int x), x)
SOFTLAB_SURFACE(surf2Dread, surf2Dwrite, cudaSurfaceType2D, (int x, int y), x, y)
SOFTLAB_SURFACE(surf3Dread, surf3Dwrite, cudaSurfaceType3D, (int x, int y, int z), x, y, z)
#undef SOFTLAB_SURFACE
#undef SOFTLAB_LIST
#endif
