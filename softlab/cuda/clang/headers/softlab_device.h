// CUDA's language for clang without NVIDIA's headers: qualifiers, indices, vector types, intrinsics, atomics.
//
// NVRTC knows these names by itself. clang knows the attributes and one built-in function per PTX instruction.
// Mathematical functions that are no single instruction are declared in softlab_math.h.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __NVCC__ 1
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
// clang reads cluster_dims and drops it: softlab reads this note in the intermediate code, and adds the directive.
#define __cluster_dims__(...) __attribute__((annotate("softlab-cluster", __VA_ARGS__)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
// In this header: code of the device that always goes into its caller.
#define SOFTLAB_CODE static __device__ __inline__ __attribute__((always_inline, nodebug))

typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;

#define warpSize 32

// ---- Vector types
#define SOFTLAB_VECTORS(T, name, bytes2, bytes4)                                                       \
  struct name##1 { T x; };                                                                             \
  struct __align__(bytes2) name##2 { T x, y; };                                                        \
  struct name##3 { T x, y, z; };                                                                       \
  struct __align__(bytes4) name##4 { T x, y, z, w; };                                                  \
  SOFTLAB_CODE name##1 make_##name##1(T x) { return {x}; }                                             \
  SOFTLAB_CODE name##2 make_##name##2(T x, T y) { return {x, y}; }                                     \
  SOFTLAB_CODE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                             \
  SOFTLAB_CODE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SOFTLAB_VECTORS(signed char, char, 2, 4)
SOFTLAB_VECTORS(unsigned char, uchar, 2, 4)
SOFTLAB_VECTORS(short, short, 4, 8)
SOFTLAB_VECTORS(unsigned short, ushort, 4, 8)
SOFTLAB_VECTORS(int, int, 8, 16)
SOFTLAB_VECTORS(unsigned int, uint, 8, 16)
SOFTLAB_VECTORS(long, long, 16, 16)
SOFTLAB_VECTORS(unsigned long, ulong, 16, 16)
SOFTLAB_VECTORS(long long, longlong, 16, 16)
SOFTLAB_VECTORS(unsigned long long, ulonglong, 16, 16)
SOFTLAB_VECTORS(float, float, 8, 16)
SOFTLAB_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 of) : x(of.x), y(of.y), z(of.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

// ---- Indices: each field reads a register of PTX
#define SOFTLAB_INDEX(name, base, Whole)                                                               \
  struct softlab_##name {                                                                              \
    __declspec(property(get = read_x)) unsigned int x;                                                 \
    __declspec(property(get = read_y)) unsigned int y;                                                 \
    __declspec(property(get = read_z)) unsigned int z;                                                 \
    SOFTLAB_CODE unsigned int read_x() { return __nvvm_read_ptx_sreg_##base##_x(); }                   \
    SOFTLAB_CODE unsigned int read_y() { return __nvvm_read_ptx_sreg_##base##_y(); }                   \
    SOFTLAB_CODE unsigned int read_z() { return __nvvm_read_ptx_sreg_##base##_z(); }                   \
    __device__ __inline__ __attribute__((always_inline, nodebug)) operator uint3() const { return {read_x(), read_y(), read_z()}; }       \
    __device__ __inline__ __attribute__((always_inline, nodebug)) operator dim3() const { return {read_x(), read_y(), read_z()}; }        \
  };                                                                                                   \
  extern const __device__ __attribute__((weak)) softlab_##name name;
SOFTLAB_INDEX(threadIdx, tid, uint3)
SOFTLAB_INDEX(blockIdx, ctaid, uint3)
SOFTLAB_INDEX(blockDim, ntid, dim3)
SOFTLAB_INDEX(gridDim, nctaid, dim3)

// ---- Barriers and fences
extern "C" {
__device__ void __syncthreads();
__device__ int printf(const char*, ...);
__device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
__device__ void* malloc(size_t);
__device__ void free(void*);
__device__ inline void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
__device__ inline void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
}
#ifdef NDEBUG
#define assert(holds) ((void)0)
#else
#define assert(holds) ((holds) ? (void)0 : __assertfail(#holds, __FILE__, __LINE__, __func__, 1))
#endif
SOFTLAB_CODE int __syncthreads_count(int holds) { return __nvvm_bar0_popc(holds); }
SOFTLAB_CODE int __syncthreads_and(int holds) { return __nvvm_bar0_and(holds); }
SOFTLAB_CODE int __syncthreads_or(int holds) { return __nvvm_bar0_or(holds); }
SOFTLAB_CODE void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
SOFTLAB_CODE void __threadfence_block() { __nvvm_membar_cta(); }
SOFTLAB_CODE void __threadfence() { __nvvm_membar_gl(); }
SOFTLAB_CODE void __threadfence_system() { __nvvm_membar_sys(); }
SOFTLAB_CODE void __nanosleep(unsigned int time) { asm volatile("nanosleep.u32 %0;" ::"r"(time)); }
SOFTLAB_CODE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
SOFTLAB_CODE int clock() { return __nvvm_read_ptx_sreg_clock(); }
SOFTLAB_CODE void __trap() { asm volatile("trap;"); }

// ---- Votes, matches and shuffles of a warp
SOFTLAB_CODE unsigned int __activemask() { return __nvvm_activemask(); }
SOFTLAB_CODE unsigned int __ballot_sync(unsigned int mask, int holds) { return __nvvm_vote_ballot_sync(mask, holds); }
SOFTLAB_CODE int __all_sync(unsigned int mask, int holds) { return __nvvm_vote_all_sync(mask, holds); }
SOFTLAB_CODE int __any_sync(unsigned int mask, int holds) { return __nvvm_vote_any_sync(mask, holds); }
SOFTLAB_CODE int __uni_sync(unsigned int mask, int holds) { return __nvvm_vote_uni_sync(mask, holds); }
#define SOFTLAB_MATCH(T, bits)                                                                         \
  SOFTLAB_CODE unsigned int __match_any_sync(unsigned int mask, T value) {                             \
    return __nvvm_match_any_sync_i##bits(mask, __builtin_bit_cast(softlab_u##bits, value));            \
  }                                                                                                    \
  SOFTLAB_CODE unsigned int __match_all_sync(unsigned int mask, T value, int* all) {                   \
    return __nvvm_match_all_sync_i##bits##p(mask, __builtin_bit_cast(softlab_u##bits, value), all);    \
  }
typedef unsigned int softlab_u32;
typedef unsigned long long softlab_u64;
SOFTLAB_MATCH(int, 32)
SOFTLAB_MATCH(unsigned int, 32)
SOFTLAB_MATCH(float, 32)
SOFTLAB_MATCH(long, 64)
SOFTLAB_MATCH(unsigned long, 64)
SOFTLAB_MATCH(long long, 64)
SOFTLAB_MATCH(unsigned long long, 64)
SOFTLAB_MATCH(double, 64)

// The last operand of `shfl`: the lowest lane of a segment of `width` lanes, and the clamp.
SOFTLAB_CODE int softlab_segment(int width, int clamp) { return ((32 - width) << 8) | clamp; }
#define SOFTLAB_SHUFFLE(name, kind, clamp, Lane)                                                       \
  SOFTLAB_CODE int name(unsigned int mask, int value, Lane lane, int width = 32) {                     \
    return __nvvm_shfl_sync_##kind##_i32(mask, value, lane, softlab_segment(width, clamp));            \
  }                                                                                                    \
  SOFTLAB_CODE float name(unsigned int mask, float value, Lane lane, int width = 32) {                 \
    return __nvvm_shfl_sync_##kind##_f32(mask, value, lane, softlab_segment(width, clamp));            \
  }                                                                                                    \
  SOFTLAB_CODE unsigned int name(unsigned int mask, unsigned int value, Lane lane, int width = 32) {   \
    return name(mask, int(value), lane, width);                                                        \
  }                                                                                                    \
  SOFTLAB_CODE unsigned long long name(unsigned int mask, unsigned long long value, Lane lane, int width = 32) { \
    unsigned int low = name(mask, unsigned(value), lane, width);                                       \
    unsigned long long high = name(mask, unsigned(value >> 32), lane, width);                          \
    return high << 32 | low;                                                                           \
  }                                                                                                    \
  SOFTLAB_CODE long long name(unsigned int mask, long long value, Lane lane, int width = 32) {         \
    return name(mask, (unsigned long long)value, lane, width);                                         \
  }                                                                                                    \
  SOFTLAB_CODE unsigned long name(unsigned int mask, unsigned long value, Lane lane, int width = 32) { \
    return name(mask, (unsigned long long)value, lane, width);                                         \
  }                                                                                                    \
  SOFTLAB_CODE long name(unsigned int mask, long value, Lane lane, int width = 32) {                   \
    return name(mask, (unsigned long long)value, lane, width);                                         \
  }                                                                                                    \
  SOFTLAB_CODE double name(unsigned int mask, double value, Lane lane, int width = 32) {               \
    return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, value), lane, width)); \
  }
SOFTLAB_SHUFFLE(__shfl_sync, idx, 0x1f, int)
SOFTLAB_SHUFFLE(__shfl_up_sync, up, 0, unsigned int)
SOFTLAB_SHUFFLE(__shfl_down_sync, down, 0x1f, unsigned int)
SOFTLAB_SHUFFLE(__shfl_xor_sync, bfly, 0x1f, int)

#define SOFTLAB_REDUX(name, kind)                                                                      \
  SOFTLAB_CODE unsigned int name(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_u##kind(value, mask); } \
  SOFTLAB_CODE int name(unsigned int mask, int value) { return __nvvm_redux_sync_##kind(value, mask); }
#if __CUDA_ARCH__ >= 800
SOFTLAB_CODE unsigned int __reduce_add_sync(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_add(value, mask); }
SOFTLAB_CODE int __reduce_add_sync(unsigned int mask, int value) { return __nvvm_redux_sync_add(value, mask); }
SOFTLAB_REDUX(__reduce_min_sync, min)
SOFTLAB_REDUX(__reduce_max_sync, max)
SOFTLAB_CODE unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_and(value, mask); }
SOFTLAB_CODE unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_or(value, mask); }
SOFTLAB_CODE unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) { return __nvvm_redux_sync_xor(value, mask); }
#endif

// ---- Atomics: relaxed, for the threads of the device; _block and _system for those of a block, of all devices
#define SOFTLAB_ATOMIC(name, op, T)                                                                    \
  SOFTLAB_CODE T name(T* at, T value) { return __scoped_atomic_##op(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); } \
  SOFTLAB_CODE T name##_block(T* at, T value) {                                                        \
    return __scoped_atomic_##op(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);                   \
  }                                                                                                    \
  SOFTLAB_CODE T name##_system(T* at, T value) {                                                       \
    return __scoped_atomic_##op(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);                   \
  }
#define SOFTLAB_ATOMIC_INTEGERS(name, op)                                                              \
  SOFTLAB_ATOMIC(name, op, int)                                                                        \
  SOFTLAB_ATOMIC(name, op, unsigned int)                                                               \
  SOFTLAB_ATOMIC(name, op, long long)                                                                  \
  SOFTLAB_ATOMIC(name, op, unsigned long long)
SOFTLAB_ATOMIC_INTEGERS(atomicMin, fetch_min)
SOFTLAB_ATOMIC_INTEGERS(atomicMax, fetch_max)
SOFTLAB_ATOMIC_INTEGERS(atomicAnd, fetch_and)
SOFTLAB_ATOMIC_INTEGERS(atomicOr, fetch_or)
SOFTLAB_ATOMIC_INTEGERS(atomicXor, fetch_xor)
SOFTLAB_ATOMIC(atomicAdd, fetch_add, int)
SOFTLAB_ATOMIC(atomicAdd, fetch_add, unsigned int)
SOFTLAB_ATOMIC(atomicAdd, fetch_add, unsigned long long)
SOFTLAB_ATOMIC(atomicAdd, fetch_add, float)
SOFTLAB_ATOMIC(atomicAdd, fetch_add, double)
SOFTLAB_ATOMIC(atomicSub, fetch_sub, int)
SOFTLAB_ATOMIC(atomicSub, fetch_sub, unsigned int)
SOFTLAB_ATOMIC(atomicExch, exchange_n, int)
SOFTLAB_ATOMIC(atomicExch, exchange_n, unsigned int)
SOFTLAB_ATOMIC(atomicExch, exchange_n, unsigned long long)
SOFTLAB_CODE float atomicExch(float* at, float value) {
  return __builtin_bit_cast(float, atomicExch((unsigned int*)at, __builtin_bit_cast(unsigned int, value)));
}
SOFTLAB_CODE unsigned int atomicInc(unsigned int* at, unsigned int last) { return __nvvm_atom_inc_gen_ui(at, last); }
SOFTLAB_CODE unsigned int atomicDec(unsigned int* at, unsigned int last) { return __nvvm_atom_dec_gen_ui(at, last); }
#define SOFTLAB_SWAP(T)                                                                                \
  SOFTLAB_CODE T atomicCAS(T* at, T compared, T value) {                                               \
    __scoped_atomic_compare_exchange_n(at, &compared, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                       __MEMORY_SCOPE_DEVICE);                                         \
    return compared;                                                                                   \
  }
SOFTLAB_SWAP(int)
SOFTLAB_SWAP(unsigned int)
SOFTLAB_SWAP(unsigned long long)
SOFTLAB_SWAP(unsigned short)

// ---- Bits
SOFTLAB_CODE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SOFTLAB_CODE unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
SOFTLAB_CODE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SOFTLAB_CODE float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
SOFTLAB_CODE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
SOFTLAB_CODE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
SOFTLAB_CODE int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
SOFTLAB_CODE int __double2loint(double x) { return int(__double_as_longlong(x)); }
SOFTLAB_CODE double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)high << 32 | (unsigned int)low);
}
SOFTLAB_CODE int __popc(unsigned int x) { return __builtin_popcount(x); }
SOFTLAB_CODE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SOFTLAB_CODE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
SOFTLAB_CODE int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
SOFTLAB_CODE int __ffs(int x) { return __builtin_ffs(x); }
SOFTLAB_CODE int __ffsll(long long x) { return __builtin_ffsll(x); }
SOFTLAB_CODE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
SOFTLAB_CODE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
SOFTLAB_CODE unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
  return __nvvm_prmt(a, b, selector);
}
SOFTLAB_CODE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
  return __builtin_elementwise_fshl(high, low, by);
}
SOFTLAB_CODE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
  return __builtin_elementwise_fshr(high, low, by);
}
SOFTLAB_CODE int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
SOFTLAB_CODE unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned long long)a * b >> 32; }
SOFTLAB_CODE long long __mul64hi(long long a, long long b) { return (__int128)a * b >> 64; }
SOFTLAB_CODE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned __int128)a * b >> 64;
}
SOFTLAB_CODE int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
SOFTLAB_CODE unsigned int __umul24(unsigned int a, unsigned int b) { return __nvvm_mul24_ui(a, b); }
SOFTLAB_CODE unsigned int __sad(int a, int b, unsigned int c) { return (a > b ? a - b : b - a) + c; }
SOFTLAB_CODE int __dp4a(int a, int b, int c) {
  int sum;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}

// ---- Addresses
SOFTLAB_CODE size_t __cvta_generic_to_shared(const void* at) { return (size_t)(__attribute__((address_space(3))) const void*)at; }
SOFTLAB_CODE size_t __cvta_generic_to_global(const void* at) { return (size_t)(__attribute__((address_space(1))) const void*)at; }
SOFTLAB_CODE void* __cvta_shared_to_generic(size_t at) { return (void*)(__attribute__((address_space(3))) void*)at; }
SOFTLAB_CODE unsigned int __isShared(const void* at) { return __nvvm_isspacep_shared(at); }
SOFTLAB_CODE unsigned int __isGlobal(const void* at) { return __nvvm_isspacep_global(at); }
SOFTLAB_CODE unsigned int __isLocal(const void* at) { return __nvvm_isspacep_local(at); }

// ---- Loads and stores with a hint for the caches
#define SOFTLAB_HINTED(T, As, suffix, letter)                                                          \
  SOFTLAB_CODE T __ldg(const T* at) {                                                                  \
    As value;                                                                                          \
    asm("ld.global.nc." suffix " %0, [%1];" : "=" letter(value) : "l"(__cvta_generic_to_global(at)));  \
    return (T)value;                                                                                   \
  }                                                                                                    \
  SOFTLAB_LOAD(__ldca, "ca", T, As, suffix, letter)                                                    \
  SOFTLAB_LOAD(__ldcg, "cg", T, As, suffix, letter)                                                    \
  SOFTLAB_LOAD(__ldcs, "cs", T, As, suffix, letter)                                                    \
  SOFTLAB_LOAD(__ldlu, "lu", T, As, suffix, letter)                                                    \
  SOFTLAB_LOAD(__ldcv, "cv", T, As, suffix, letter)                                                    \
  SOFTLAB_STORE(__stwb, "wb", T, As, suffix, letter)                                                   \
  SOFTLAB_STORE(__stcg, "cg", T, As, suffix, letter)                                                   \
  SOFTLAB_STORE(__stcs, "cs", T, As, suffix, letter)                                                   \
  SOFTLAB_STORE(__stwt, "wt", T, As, suffix, letter)
#define SOFTLAB_LOAD(name, hint, T, As, suffix, letter)                                                \
  SOFTLAB_CODE T name(const T* at) {                                                                   \
    As value;                                                                                          \
    asm volatile("ld.global." hint "." suffix " %0, [%1];" : "=" letter(value) : "l"(__cvta_generic_to_global(at)) : "memory"); \
    return (T)value;                                                                                   \
  }
#define SOFTLAB_STORE(name, hint, T, As, suffix, letter)                                               \
  SOFTLAB_CODE void name(T* at, T value) {                                                             \
    asm volatile("st.global." hint "." suffix " [%0], %1;" ::"l"(__cvta_generic_to_global(at)), letter((As)value) : "memory"); \
  }
SOFTLAB_HINTED(char, short, "s8", "h")
SOFTLAB_HINTED(signed char, short, "s8", "h")
SOFTLAB_HINTED(unsigned char, unsigned short, "u8", "h")
SOFTLAB_HINTED(short, short, "s16", "h")
SOFTLAB_HINTED(unsigned short, unsigned short, "u16", "h")
SOFTLAB_HINTED(int, int, "s32", "r")
SOFTLAB_HINTED(unsigned int, unsigned int, "u32", "r")
SOFTLAB_HINTED(long, long, "s64", "l")
SOFTLAB_HINTED(unsigned long, unsigned long, "u64", "l")
SOFTLAB_HINTED(long long, long long, "s64", "l")
SOFTLAB_HINTED(unsigned long long, unsigned long long, "u64", "l")
SOFTLAB_HINTED(float, float, "f32", "f")
SOFTLAB_HINTED(double, double, "f64", "d")
#define SOFTLAB_HINTED_4(T, suffix, letter)                                                            \
  SOFTLAB_CODE T __ldg(const T* at) {                                                                  \
    T value;                                                                                           \
    asm("ld.global.nc.v4." suffix " {%0, %1, %2, %3}, [%4];"                                           \
        : "=" letter(value.x), "=" letter(value.y), "=" letter(value.z), "=" letter(value.w)           \
        : "l"(__cvta_generic_to_global(at)));                                                          \
    return value;                                                                                      \
  }
#define SOFTLAB_HINTED_2(T, suffix, letter)                                                            \
  SOFTLAB_CODE T __ldg(const T* at) {                                                                  \
    T value;                                                                                           \
    asm("ld.global.nc.v2." suffix " {%0, %1}, [%2];"                                                   \
        : "=" letter(value.x), "=" letter(value.y) : "l"(__cvta_generic_to_global(at)));               \
    return value;                                                                                      \
  }
SOFTLAB_HINTED_4(float4, "f32", "f")
SOFTLAB_HINTED_4(int4, "s32", "r")
SOFTLAB_HINTED_4(uint4, "u32", "r")
SOFTLAB_HINTED_2(float2, "f32", "f")
SOFTLAB_HINTED_2(int2, "s32", "r")
SOFTLAB_HINTED_2(uint2, "u32", "r")
SOFTLAB_HINTED_2(double2, "f64", "d")

#include <softlab_math.h>
