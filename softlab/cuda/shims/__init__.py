"""Headers that nvcc takes from the host's compiler and that NVRTC lacks: what device code needs of them.

Headers of the C and C++ libraries all give ``softlab_standard.h``: integer types, limits, constants, and what kernels
use of namespace std. Headers for host code alone are the same, so that a file that includes them compiles.
``cub/cub.cuh`` gives CUB's parts for threads, warps and blocks; the rest of CUB launches kernels from the host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

#: The header with everything; ``--pre-include`` it to compile a file as nvcc would, which includes some by itself.
STANDARD = "softlab_standard.h"
_C = "assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdalign stdarg stdbool stddef \
stdint stdio stdlib string time wchar"
_CPP = "algorithm any array barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono cinttypes \
climits clocale cmath codecvt compare complex concepts condition_variable coroutine csignal cstdarg cstdbool \
cstddef cstdint cstdio cstdlib cstring ctime deque exception execution expected filesystem format forward_list \
fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale \
map mdspan memory mutex new numbers numeric optional ostream print queue random ranges ratio regex semaphore set \
shared_mutex source_location span sstream stack stdexcept streambuf string string_view system_error thread tuple \
type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector"
#: The types of 16 bits, which many libraries' headers bring.
HALVES = "#include <cuComplex.h>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
#: Those of 8 bits, where a macro that the build defines includes them.
EIGHTHS = "#include <cuda_fp8.h>\n"
_COMPLEX = (
    "#include <cuComplex.h>\n#ifndef SOFTLAB_CUFFT\n#define SOFTLAB_CUFFT\ntypedef float cufftReal;\n"
    "typedef double cufftDoubleReal;\ntypedef cuComplex cufftComplex;\n"
    "typedef cuDoubleComplex cufftDoubleComplex;\n#endif\n"
)
#: The driver's headers, for sources that include them: the type of a tensor map.
_DRIVER = ("cuda.h", "cudaTypedefs.h")
#: Its enums, with their values from 0 on.
_OF_TENSOR_MAPS = {
    "DataType": "DATA_TYPE_UINT8 DATA_TYPE_UINT16 DATA_TYPE_UINT32 DATA_TYPE_INT32 DATA_TYPE_UINT64 DATA_TYPE_INT64 \
DATA_TYPE_FLOAT16 DATA_TYPE_FLOAT32 DATA_TYPE_FLOAT64 DATA_TYPE_BFLOAT16 DATA_TYPE_FLOAT32_FTZ DATA_TYPE_TFLOAT32 \
DATA_TYPE_TFLOAT32_FTZ",
    "Interleave": "INTERLEAVE_NONE INTERLEAVE_16B INTERLEAVE_32B",
    "Swizzle": "SWIZZLE_NONE SWIZZLE_32B SWIZZLE_64B SWIZZLE_128B",
    "L2promotion": "L2_PROMOTION_NONE L2_PROMOTION_L2_64B L2_PROMOTION_L2_128B L2_PROMOTION_L2_256B",
    "FloatOOBfill": "FLOAT_OOB_FILL_NONE FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA",
}
_TENSOR_MAP = (
    f"#include <{STANDARD}>\n#ifndef SOFTLAB_TENSOR_MAP\n#define SOFTLAB_TENSOR_MAP\n"
    "typedef struct CUtensorMap_st { alignas(64) unsigned long long opaque[16]; } CUtensorMap;\n"
    + "".join(
        f"typedef enum {{ {', '.join(f'CU_TENSOR_MAP_{value}' for value in values.split())} }} CUtensorMap{name};\n"
        for name, values in _OF_TENSOR_MAPS.items()
    )
    + "#endif\n"
)
_OTHER = """bits/stdc++.h cuda.h getopt.h memory.h pthread.h strings.h sys/resource.h sys/stat.h sys/time.h sys/times.h
sys/types.h unistd.h windows.h"""
#: Headers of NVIDIA's samples, for the host: those of today, and those up to CUDA 4.
_OF_SAMPLES = """helper_cuda.h helper_functions.h helper_string.h helper_timer.h helper_image.h helper_gl.h
helper_cuda_gl.h rendercheck_gl.h cutil_inline.h cutil_inline_runtime.h cutil_gl_inline.h shrUtils.h shrQATest.h
sdkHelper.h"""
#: Headers of the samples for the device: programs have copies of their own, often with more in them.
COPIED = ("helper_math.h", "cutil_math.h")
#: Libraries for the host whose headers bring types to the device: name -> what device code gets.
_LIBRARIES = {
    "cublas.h": HALVES,
    "cublas_v2.h": HALVES,
    "cublasLt.h": HALVES,
    "cufft.h": _COMPLEX,
    "cufftXt.h": _COMPLEX,
    "cusparse.h": HALVES,
    **dict.fromkeys(_OF_SAMPLES.split(), ""),
    # Its check of bank conflicts was for CUDA's emulation of devices, which is gone.
    "cutil.h": "#define CUT_BANK_CHECKER(array, index) array[index]\n",
    "cutil_math.h": "#include <helper_math.h>\n",
}
#: What a file meant for nvcc finds beyond the headers: its macro, and on Linux integers of 64 bits that are long.
#: NVRTC's are long long, which no pointer to unsigned long converts to.
AS_NVCC = f"""\
#ifndef SOFTLAB_NVCC_H
#define SOFTLAB_NVCC_H
#if defined(__CUDACC_RTC__) && !defined(__clang__) && !defined(_WIN32)
#define int64_t softlab_int64_t
#define uint64_t softlab_uint64_t
#include <cuda/std/cstdint>
#undef int64_t
#undef uint64_t
typedef long int64_t;
typedef unsigned long uint64_t;
#ifdef _CCCL_BEGIN_NAMESPACE_CUDA_STD
_CCCL_BEGIN_NAMESPACE_CUDA_STD
#else
_LIBCUDACXX_BEGIN_NAMESPACE_STD
#endif
using ::int64_t;
using ::uint64_t;
#ifdef _CCCL_END_NAMESPACE_CUDA_STD
_CCCL_END_NAMESPACE_CUDA_STD
#else
_LIBCUDACXX_END_NAMESPACE_STD
#endif
#endif
#include <{STANDARD}>
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#endif
"""
#: Its name.
NVCC = "softlab_nvcc.h"
#: Namespace std by libcu++; the header with everything includes it where SOFTLAB_WHOLE_STANDARD is defined.
WHOLE = "softlab_whole_standard.h"
#: This header has a uint64_t of its own for NVRTC, which is not nvcc's.
PIPELINE = """\
#define uint64_t softlab_pipeline_uint64_t
#define uintptr_t softlab_pipeline_uintptr_t
#include <cuda_pipeline_helpers.h>
#undef uint64_t
#undef uintptr_t
"""
#: This one, too, and its barriers are of that type: a program may give them its own uint64_t.
BARRIERS = """\
#undef __CUDACC_RTC__
#include <cuda_awbarrier_helpers.h>
#define __CUDACC_RTC__ 1
"""
_CUTLASS_TYPES = """\
#include <cutlass/cutlass.h>
#include <cutlass/fast_math.h>
#include <cutlass/numeric_types.h>
#include <cutlass/tensor_view.h>
"""
_CUTLASS_GEMM = f"{_CUTLASS_TYPES}#include <cutlass/gemm/gemm.h>\n#include <cutlass/numeric_conversion.h>\n"
_CUTLASS_TOOLS = """GPU_Clock.hpp command_line.h cublas_wrappers.hpp exceptions.h gett_commandline.hpp
helper_cuda.hpp"""
_CUTLASS_TENSORS = """device_memory.h host_reorder.h host_tensor.h host_tensor_planar_complex.h host_uncompress.h
tensor_view_io.h"""
_CUTLASS_REFERENCES = """conv.hpp convolution.h error_metrics.h gemm.h gemm_complex.h gemm_planar_complex.h gett.hpp
rank_2k.h rank_2k_complex.h rank_k_complex.h symm.h symm_complex.h tensor_compare.h tensor_compare.hpp tensor_copy.h
tensor_elementwise.h tensor_fill.h tensor_fill.hpp tensor_foreach.h tensor_norm.h tensor_reduce.h tensor_reduce.hpp
trmm.h trmm_complex.h"""
#: Headers of CUTLASS whose functions are all the host's: name -> what device code gets.
OF_CUTLASS = {
    **dict.fromkeys(("cutlass/cluster_launch.hpp", "cute/arch/cluster_sm100.hpp"), "#include <cutlass/cutlass.h>\n"),
    **{f"cutlass/util/{name}": "" for name in _CUTLASS_TOOLS.split()},
    **{f"cutlass/util/{name}": _CUTLASS_TYPES for name in _CUTLASS_TENSORS.split()},
    **{f"cutlass/util/reference/host/{name}": _CUTLASS_GEMM for name in _CUTLASS_REFERENCES.split()},
}
#: Operators that CUB had until its version 3.
OPERATORS = """\
#include <cuda/std/version>
#if defined(CCCL_VERSION) && CCCL_VERSION >= 3000000
#ifndef SOFTLAB_CUB_OPERATORS
#define SOFTLAB_CUB_OPERATORS
namespace cub {
struct Sum {
  template <typename T, typename U> __host__ __device__ constexpr auto operator()(T a, U b) const { return a + b; }
};
struct Max {
  template <typename T> __host__ __device__ constexpr T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Min {
  template <typename T> __host__ __device__ constexpr T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Equality {
  template <typename T, typename U> __host__ __device__ constexpr bool operator()(T a, U b) const { return a == b; }
};
struct Inequality {
  template <typename T, typename U> __host__ __device__ constexpr bool operator()(T a, U b) const { return a != b; }
};
struct ArgMax {
  template <typename P> __host__ __device__ constexpr P operator()(P a, P b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <typename P> __host__ __device__ constexpr P operator()(P a, P b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
}  // namespace cub
#endif
#endif
"""


def driver_headers(*sources: str) -> dict[str, str]:
    """Name -> text of the headers of the driver's API, where one of these sources includes any."""
    found = any(name in source for source in sources for name in _DRIVER)
    return dict.fromkeys(_DRIVER, _TENSOR_MAP) if found else {}


@lru_cache(maxsize=4)
def further(name: str) -> str:
    """A header for the sources that need it: ``texture_references.h``, ``old_intrinsics.h``, ``long_atomics.h``,
    ``mixed_math.h``, ``device_launches.h``, ``torch_types.h``, ``opencv_types.h``, ``thrust_types.h``,
    ``thrust_algorithms.h``."""
    return (files(__package__) / "further" / name).read_text()


@lru_cache(maxsize=1)
def standard_words() -> frozenset[str]:
    """The words of the header with everything, and so all names that it gives."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", shim_headers()[STANDARD]))


@lru_cache(maxsize=1)
def shim_headers() -> Mapping[str, str]:
    """Name in ``#include`` -> text."""
    include = f"#include <{STANDARD}>\n"
    names = [*(f"{name}.h" for name in _C.split()), *_CPP.split(), *_OTHER.split()]
    texts = dict.fromkeys(names, include)
    texts |= {name: include + text for name, text in _LIBRARIES.items()}
    for path in files(__package__).iterdir():
        if path.name.endswith((".h", ".cuh")):
            texts["cub/cub.cuh" if path.name == "cub.cuh" else path.name] = path.read_text()
    return MappingProxyType(texts)
