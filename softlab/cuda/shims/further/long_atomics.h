// Atomics on integers of 64 bits that are long, as 64-bit integers are on Linux. CUDA has them for long long alone.
#ifndef SOFTLAB_LONG_ATOMICS_H
#define SOFTLAB_LONG_ATOMICS_H
#define SOFTLAB_LONG_ATOMIC(name, T, wide)                                                                    \
  inline __device__ T name(T* address, T value) {                                                             \
    return static_cast<T>(name(reinterpret_cast<wide*>(address), static_cast<wide>(value)));                  \
  }
#define SOFTLAB_LONG_ATOMIC_OF_BITS(name)                                                                     \
  SOFTLAB_LONG_ATOMIC(name, long, unsigned long long)                                                         \
  SOFTLAB_LONG_ATOMIC(name, unsigned long, unsigned long long)
SOFTLAB_LONG_ATOMIC_OF_BITS(atomicAdd)
SOFTLAB_LONG_ATOMIC_OF_BITS(atomicExch)
SOFTLAB_LONG_ATOMIC_OF_BITS(atomicAnd)
SOFTLAB_LONG_ATOMIC_OF_BITS(atomicOr)
SOFTLAB_LONG_ATOMIC_OF_BITS(atomicXor)
SOFTLAB_LONG_ATOMIC(atomicMax, long, long long)
SOFTLAB_LONG_ATOMIC(atomicMax, unsigned long, unsigned long long)
SOFTLAB_LONG_ATOMIC(atomicMin, long, long long)
SOFTLAB_LONG_ATOMIC(atomicMin, unsigned long, unsigned long long)
#undef SOFTLAB_LONG_ATOMIC
#undef SOFTLAB_LONG_ATOMIC_OF_BITS
#define SOFTLAB_LONG_CAS(T)                                                                                   \
  inline __device__ T atomicCAS(T* address, T compared, T value) {                                            \
    return static_cast<T>(atomicCAS(reinterpret_cast<unsigned long long*>(address),                           \
                                    static_cast<unsigned long long>(compared),                                \
                                    static_cast<unsigned long long>(value)));                                 \
  }
SOFTLAB_LONG_CAS(long)
SOFTLAB_LONG_CAS(unsigned long)
#undef SOFTLAB_LONG_CAS
#endif
