"""What kernels use of headers that NVRTC lacks: types of libraries for the host, opaque and of the size that they have
there, some names of the system and of CUDA, and functions that the host's compiler has.

nvcc finds them in the headers. softlab declares one where the compiler asks for its name, so that a type of the program
itself stays what it is.
"""

from __future__ import annotations

#: Handles that are pointers to a struct that nobody sees.
_POINTERS = """
cublasHandle_t cublasLtHandle_t cublasLtMatmulDesc_t cublasLtMatrixLayout_t cublasLtMatmulPreference_t cusparseHandle_t
cusparseMatDescr_t cusparseSpMatDescr_t cusparseDnMatDescr_t cusparseDnVecDescr_t cusolverDnHandle_t cusolverSpHandle_t
cusolverRfHandle_t curandGenerator_t cudnnHandle_t cudnnTensorDescriptor_t cudnnFilterDescriptor_t
cudnnConvolutionDescriptor_t cudnnActivationDescriptor_t cudnnPoolingDescriptor_t cudnnDropoutDescriptor_t
cudnnRNNDescriptor_t ncclComm_t nvmlDevice_t cudaGraphicsResource_t CUcontext CUmodule CUfunction CUstream CUevent
cudaGraph_t cudaGraphExec_t cudaGraphNode_t cudaMemPool_t cudaArray_t cudaStream_t cudaEvent_t MPI_Comm MPI_Request
MPI_Datatype MPI_Op MPI_Group MPI_Win MPI_File
"""
#: Results and choices of the libraries: enums, which are as large as an int.
_ENUMS = """
cublasStatus_t cublasOperation_t cublasFillMode_t cublasComputeType_t cublasGemmAlgo_t cusparseStatus_t
cusparseOperation_t cusolverStatus_t curandStatus_t curandRngType_t cufftResult cufftType cudnnStatus_t cudnnDataType_t
cudnnTensorFormat_t cudnnConvolutionFwdAlgo_t ncclResult_t ncclDataType_t ncclRedOp_t CUresult nvmlReturn_t
"""
_OF_WINDOWS = {
    "signed char": "INT8",
    "unsigned char": "BYTE UCHAR UINT8",
    "short": "SHORT INT16",
    "unsigned short": "WORD USHORT UINT16",
    "int": "BOOL INT LONG INT32",
    "unsigned int": "DWORD UINT ULONG UINT32 DWORD32 COLORREF",
    "long long": "LONGLONG INT64",
    "unsigned long long": "ULONGLONG UINT64 DWORD64",
    "float": "FLOAT",
    "void*": "HANDLE LPVOID PVOID HWND HDC",
}
_OTHERS = {
    "uchar": "typedef unsigned char uchar;",  # OpenCV's
    "FILE": "typedef struct _IO_FILE FILE;",
    "DIR": "typedef struct __dirstream DIR;",
    "cufftHandle": "typedef int cufftHandle;",
    "CUdevice": "typedef int CUdevice;",
    "CUdeviceptr": "typedef unsigned long long CUdeviceptr;",
    "MPI_Status": "typedef struct { int softlab_words[6]; } MPI_Status;",
    "pthread_t": "typedef unsigned long pthread_t;",
    "pthread_mutex_t": "typedef struct { void* softlab_words[5]; } pthread_mutex_t;",
    "pthread_cond_t": "typedef struct { void* softlab_words[6]; } pthread_cond_t;",
    "pthread_barrier_t": "typedef struct { void* softlab_words[4]; } pthread_barrier_t;",
    "time_t": "typedef long time_t;",
    "clock_t": "typedef long clock_t;",
    "pid_t": "typedef int pid_t;",
    "off_t": "typedef long off_t;",
    "timeval": "struct timeval { long tv_sec, tv_usec; };",
    "timespec": "struct timespec { long tv_sec, tv_nsec; };",
    # Names of BSD, which sys/types.h brings.
    "u_char": "typedef unsigned char u_char;",
    "u_short": "typedef unsigned short u_short;",
    "u_int": "typedef unsigned int u_int;",
    "u_long": "typedef unsigned long u_long;",
    "u_int8_t": "typedef unsigned char u_int8_t;",
    "u_int16_t": "typedef unsigned short u_int16_t;",
    "u_int32_t": "typedef unsigned int u_int32_t;",
    "u_int64_t": "typedef unsigned long u_int64_t;",
    # Names of the C library for its own use.
    **{
        f"__{sign}int{bits}_t": f"typedef {'unsigned ' * bool(sign)}{kind} __{sign}int{bits}_t;"
        for sign in ("", "u")
        for bits, kind in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
    },
    # Numbers of Windows, where a long has 32 bits.
    **{name: f"typedef {kind} {name};" for kind, names in _OF_WINDOWS.items() for name in names.split()},
    # Vertices of Direct3D.
    "XMFLOAT2": "struct XMFLOAT2 { float x, y; };",
    "XMFLOAT3": "struct XMFLOAT3 { float x, y, z; };",
    "XMFLOAT4": "struct XMFLOAT4 { float x, y, z, w; };",
    # Of device code: a kernel lets the next one start, and waits for the one before. Here a kernel runs alone.
    "cudaTriggerProgrammaticLaunchCompletion": "__device__ inline void cudaTriggerProgrammaticLaunchCompletion() {\n"
    '  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");\n}',
    "cudaGridDependencySynchronize": "__device__ inline void cudaGridDependencySynchronize() {\n"
    '  asm volatile("griddepcontrol.wait;" ::: "memory");\n}',
    # Numbers of MATLAB's generated code (tmwtypes.h), and sizes and arrays of its functions in C (mex.h).
    **{
        f"{sign}int{bits}_T": f"typedef {'unsigned' if sign else 'signed'} {kind} {sign}int{bits}_T;"
        for sign in ("", "u")
        for bits, kind in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
    },
    **{name: f"typedef double {name};" for name in ("real_T", "real64_T", "time_T")},
    **{name: f"typedef unsigned char {name};" for name in ("boolean_T", "uchar_T")},
    **{name: f"typedef char {name};" for name in ("char_T", "byte_T")},
    **{name: f"typedef size_t {name};" for name in ("mwSize", "mwIndex")},
    "real32_T": "typedef float real32_T;",
    "int_T": "typedef int int_T;",
    "uint_T": "typedef unsigned int uint_T;",
    "creal_T": "struct creal_T { double re, im; };",
    "creal64_T": "struct creal64_T { double re, im; };",
    "creal32_T": "struct creal32_T { float re, im; };",
    "mwSignedIndex": "typedef long mwSignedIndex;",
    "mxArray": "typedef struct softlab_mxArray mxArray;",
    "GLuint": "typedef unsigned int GLuint;",
    "GLint": "typedef int GLint;",
    "GLenum": "typedef unsigned int GLenum;",
    "GLfloat": "typedef float GLfloat;",
    "GLsizei": "typedef int GLsizei;",
    "GLubyte": "typedef unsigned char GLubyte;",
    "LDBL_MAX": "#define LDBL_MAX DBL_MAX",  # long double is double on the device
    "LDBL_MIN": "#define LDBL_MIN DBL_MIN",
    "LDBL_EPSILON": "#define LDBL_EPSILON DBL_EPSILON",
    "LDBL_DIG": "#define LDBL_DIG DBL_DIG",
    "LDBL_MANT_DIG": "#define LDBL_MANT_DIG DBL_MANT_DIG",
}
#: Functions of GCC, each by the function that CUDA has, or by a loop that constants may use, for unsigned integers.
_AS_CUDA = """
fabs fabsf sqrt sqrtf floor floorf ceil ceilf round roundf trunc truncf exp expf log logf log2 log2f pow powf sin sinf
cos cosf tan tanf tanh tanhf atan2 atan2f fma fmaf fmin fminf fmax fmaxf fmod fmodf copysign copysignf abs signbit
memcpy memset
"""
_OF_BITS = {
    "popcount": "int n = 0; for (; x; x &= x - 1) ++n; return n;",
    "parity": "int n = 0; for (; x; x &= x - 1) n ^= 1; return n;",
    "ctz": "int n = 0; for (; x && !(x & 1); x >>= 1) ++n; return n;",
    "clz": "int n = 8 * sizeof(x); for (; x; x >>= 1) --n; return n;",
    "ffs": "int n = x ? 1 : 0; for (; x && !(x & 1); x >>= 1) ++n; return n;",
}
_BUILTINS = {
    **{f"__builtin_{name}": f"#define __builtin_{name} {name}" for name in _AS_CUDA.split()},
    **{
        f"__builtin_{name}{suffix}": "__host__ __device__ constexpr int "
        f"__builtin_{name}{suffix}(unsigned {kind} x) {{ {body} }}"
        for name, body in _OF_BITS.items()
        for suffix, kind in (("", "int"), ("l", "long"), ("ll", "long long"))
    },
    "__builtin_inff": "#define __builtin_inff() INFINITY",
    "__builtin_inf": "#define __builtin_inf() HUGE_VAL",
    "__builtin_huge_valf": "#define __builtin_huge_valf() HUGE_VALF",
    "__builtin_huge_val": "#define __builtin_huge_val() HUGE_VAL",
    "__builtin_nanf": "#define __builtin_nanf(text) nanf(text)",
    "__builtin_nan": "#define __builtin_nan(text) nan(text)",
}
#: Name -> its declaration.
HOST_TYPES = {
    **{name: f"typedef struct softlab_{name}* {name};" for name in _POINTERS.split()},
    **{name: f"typedef int {name};" for name in _ENUMS.split()},
    **_OTHERS,
    **_BUILTINS,
}
