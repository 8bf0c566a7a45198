// What device code uses of PyTorch's headers, where these are not there: the types of 16 bits, the accessors of tensors,
// the types that sums have, and helpers of loops, shuffles and atomics.
#ifndef SOFTLAB_TORCH_TYPES_H
#define SOFTLAB_TORCH_TYPES_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef C10_WARP_SIZE
#define C10_WARP_SIZE 32
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE __forceinline__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define C10_RESTRICT __restrict__
#define C10_UNUSED
#endif
#ifndef CUDA_KERNEL_ASSERT
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#endif
#ifndef CUDA_KERNEL_LOOP_TYPE
#define CUDA_KERNEL_LOOP_TYPE(i, n, type)                                                                       \
  type softlab_index_##i = static_cast<type>(blockIdx.x) * blockDim.x + threadIdx.x;                            \
  for (type i = softlab_index_##i; softlab_index_##i < (n);                                                     \
       softlab_index_##i += static_cast<type>(blockDim.x) * gridDim.x, i = softlab_index_##i)
#endif
#ifndef CUDA_KERNEL_LOOP
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#endif

namespace c10 {

// A number of 16 bits whose arithmetic is that of float. Its operations with float and double give these types.
#define SOFTLAB_NARROW(name, own, bits, widened, narrowed)                                                      \
  struct alignas(2) name {                                                                                      \
    unsigned short x;                                                                                           \
    struct from_bits_t {};                                                                                      \
    static constexpr __host__ __device__ from_bits_t from_bits() { return from_bits_t(); }                      \
    name() = default;                                                                                           \
    constexpr __host__ __device__ name(unsigned short held, from_bits_t) : x(held) {}                           \
    __host__ __device__ name(float value) : x(bits(narrowed(value))) {}                                         \
    __host__ __device__ name(const own& value) : x(bits(value)) {}                                              \
    __host__ __device__ operator float() const { return widened(*reinterpret_cast<const own*>(&x)); }           \
    __host__ __device__ operator own() const { return *reinterpret_cast<const own*>(&x); }                      \
  };                                                                                                            \
  inline __host__ __device__ name operator-(const name& a) { return name(-static_cast<float>(a)); }             \
  SOFTLAB_NARROW_OPERATOR(name, +)                                                                              \
  SOFTLAB_NARROW_OPERATOR(name, -)                                                                              \
  SOFTLAB_NARROW_OPERATOR(name, *)                                                                              \
  SOFTLAB_NARROW_OPERATOR(name, /)                                                                              \
  SOFTLAB_NARROW_COMPARISON(name, <)                                                                            \
  SOFTLAB_NARROW_COMPARISON(name, >)                                                                            \
  SOFTLAB_NARROW_COMPARISON(name, <=)                                                                           \
  SOFTLAB_NARROW_COMPARISON(name, >=)                                                                           \
  SOFTLAB_NARROW_COMPARISON(name, ==)                                                                           \
  SOFTLAB_NARROW_COMPARISON(name, !=)
#define SOFTLAB_NARROW_OPERATOR(name, op)                                                                       \
  inline __host__ __device__ name operator op(const name& a, const name& b) {                                   \
    return name(static_cast<float>(a) op static_cast<float>(b));                                                \
  }                                                                                                             \
  inline __host__ __device__ name& operator op##=(name& a, const name& b) { return a = a op b; }                \
  inline __host__ __device__ float& operator op##=(float& a, const name& b) {                                   \
    return a = a op static_cast<float>(b);                                                                      \
  }                                                                                                             \
  SOFTLAB_NARROW_WITH(name, op, float, float, static_cast<float>)                                               \
  SOFTLAB_NARROW_WITH(name, op, double, double, static_cast<float>)                                             \
  SOFTLAB_NARROW_WITH(name, op, int, name, )                                                                    \
  SOFTLAB_NARROW_WITH(name, op, long, name, )                                                                   \
  SOFTLAB_NARROW_WITH(name, op, long long, name, )
#define SOFTLAB_NARROW_WITH(name, op, other, result, widened)                                                   \
  inline __host__ __device__ result operator op(const name& a, other b) { return widened(a) op result(b); }     \
  inline __host__ __device__ result operator op(other a, const name& b) { return result(a) op widened(b); }
#define SOFTLAB_NARROW_COMPARISON(name, op)                                                                     \
  inline __host__ __device__ bool operator op(const name& a, const name& b) {                                   \
    return static_cast<float>(a) op static_cast<float>(b);                                                      \
  }                                                                                                             \
  template <typename T, typename = softlab_number<T>>                                                           \
  __host__ __device__ bool operator op(const name& a, T b) {                                                    \
    return static_cast<float>(a) op b;                                                                          \
  }                                                                                                             \
  template <typename T, typename = softlab_number<T>>                                                           \
  __host__ __device__ bool operator op(T a, const name& b) {                                                    \
    return a op static_cast<float>(b);                                                                          \
  }
template <typename T> using softlab_number = std::enable_if_t<std::is_arithmetic<T>::value>;
SOFTLAB_NARROW(Half, __half, __half_as_ushort, __half2float, __float2half_rn)
SOFTLAB_NARROW(BFloat16, __nv_bfloat16, __bfloat16_as_ushort, __bfloat162float, __float2bfloat16_rn)
#undef SOFTLAB_NARROW
#undef SOFTLAB_NARROW_OPERATOR
#undef SOFTLAB_NARROW_WITH
#undef SOFTLAB_NARROW_COMPARISON

}  // namespace c10

namespace at {

using c10::BFloat16;
using c10::Half;

template <typename T> struct OpMathType { using type = T; };
template <> struct OpMathType<Half> { using type = float; };
template <> struct OpMathType<BFloat16> { using type = float; };
template <typename T> using opmath_type = typename OpMathType<T>::type;

// On a GPU, sums of floats are floats, and those of integers have 64 bits.
template <typename T, bool gpu> struct AccumulateType {
  using type = std::conditional_t<
      std::is_integral<T>::value, std::conditional_t<std::is_same<T, bool>::value, bool, long>,
      std::conditional_t<!gpu && std::is_same<opmath_type<T>, float>::value, double, opmath_type<T>>>;
};
template <typename T, bool gpu> using acc_type = typename AccumulateType<T, gpu>::type;

template <typename T> struct DefaultPtrTraits { typedef T* PtrType; };
template <typename T> struct RestrictPtrTraits { typedef T* __restrict__ PtrType; };

// A tensor by its pointer, and by the sizes and strides of its dimensions, in elements.
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename I = long>
struct TensorAccessor {
  typename Traits<T>::PtrType data_;
  const I* sizes_;
  const I* strides_;
  __host__ __device__ TensorAccessor(typename Traits<T>::PtrType data, const I* sizes, const I* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ TensorAccessor<T, N - 1, Traits, I> operator[](I i) const {
    return TensorAccessor<T, N - 1, Traits, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }
  __host__ __device__ I size(I i) const { return sizes_[i]; }
  __host__ __device__ I stride(I i) const { return strides_[i]; }
  __host__ __device__ typename Traits<T>::PtrType data() const { return data_; }
};
template <typename T, template <typename> class Traits, typename I> struct TensorAccessor<T, 1, Traits, I> {
  typename Traits<T>::PtrType data_;
  const I* sizes_;
  const I* strides_;
  __host__ __device__ TensorAccessor(typename Traits<T>::PtrType data, const I* sizes, const I* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ T& operator[](I i) const { return data_[strides_[0] * i]; }
  __host__ __device__ I size(I i) const { return sizes_[i]; }
  __host__ __device__ I stride(I i) const { return strides_[i]; }
  __host__ __device__ typename Traits<T>::PtrType data() const { return data_; }
};

// The same as a kernel's argument.
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename I = long>
struct GenericPackedTensorAccessor {
  T* data_;
  I sizes_[N];
  I strides_[N];
  __host__ __device__ decltype(auto) operator[](I i) const {
    return TensorAccessor<T, N, Traits, I>(data_, sizes_, strides_)[i];
  }
  __host__ __device__ I size(I i) const { return sizes_[i]; }
  __host__ __device__ I stride(I i) const { return strides_[i]; }
  __host__ __device__ T* data() const { return data_; }
};
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int>;
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, long>;
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename I = long>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, I>;

namespace cuda {
template <typename T> __host__ __device__ constexpr T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }

namespace detail {
// A tensor of at most 25 dimensions as a kernel's argument, its sizes and strides in elements.
template <typename T, typename I> struct TensorInfo {
  T* data;
  I sizes[25];
  I strides[25];
  int dims;
};
// The offset in elements of the one that comes at a place when all dimensions are counted, the last one fastest.
// ``dims``: the number of dimensions, -1 where the tensor says it.
template <typename T, typename I, int dims> struct IndexToOffset {
  static __host__ __device__ I get(I place, const TensorInfo<T, I>& info) {
    I offset = 0;
    for (int i = (dims < 0 ? info.dims : dims) - 1; i > 0; --i) {
      offset += place % info.sizes[i] * info.strides[i];
      place /= info.sizes[i];
    }
    return offset + place * info.strides[0];
  }
};
}  // namespace detail
}  // namespace cuda

}  // namespace at

namespace torch {
using namespace at;
}  // namespace torch

// Atomics, also for the types of 16 bits and for signed integers of 64 bits. A source's own functions go first.
template <typename T> struct softlab_atomic { using type = T; };
template <> struct softlab_atomic<at::Half> { using type = __half; };
template <> struct softlab_atomic<at::BFloat16> { using type = __nv_bfloat16; };
template <> struct softlab_atomic<long> { using type = unsigned long long; };
template <> struct softlab_atomic<long long> { using type = unsigned long long; };
template <typename T> __device__ T gpuAtomicAdd(T* address, T value) {
  using U = typename softlab_atomic<T>::type;
  return static_cast<T>(atomicAdd(reinterpret_cast<U*>(address), static_cast<U>(value)));
}
template <typename T> __device__ void gpuAtomicAddNoReturn(T* address, T value) { gpuAtomicAdd(address, value); }
template <typename T> __device__ T gpuAtomicMax(T* address, T value) { return atomicMax(address, value); }
template <typename T> __device__ T gpuAtomicMin(T* address, T value) { return atomicMin(address, value); }
template <typename T, typename = std::enable_if_t<!std::is_same<T, typename softlab_atomic<T>::type>::value>>
__device__ T atomicAdd(T* address, T value) {
  return gpuAtomicAdd(address, value);
}

template <typename T>
__device__ T WARP_SHFL(T value, int lane, int width = warpSize, unsigned int mask = 0xffffffff) {
  return __shfl_sync(mask, value, lane, width);
}
template <typename T>
__device__ T WARP_SHFL_XOR(T value, int lanes, int width = warpSize, unsigned int mask = 0xffffffff) {
  return __shfl_xor_sync(mask, value, lanes, width);
}
template <typename T>
__device__ T WARP_SHFL_UP(T value, unsigned int lanes, int width = warpSize, unsigned int mask = 0xffffffff) {
  return __shfl_up_sync(mask, value, lanes, width);
}
template <typename T>
__device__ T WARP_SHFL_DOWN(T value, unsigned int lanes, int width = warpSize, unsigned int mask = 0xffffffff) {
  return __shfl_down_sync(mask, value, lanes, width);
}
inline __device__ unsigned int WARP_BALLOT(int predicate, unsigned int mask = 0xffffffff) {
  return __ballot_sync(mask, predicate);
}
#endif
