"""Arguments of a launch, held against the types that the kernel declares."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from softlab.cuda.structs import Struct
from softlab.emulator.machine.arguments import scalar_for_driver
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.errors import KernelFault
from softlab.kernel import Kernel
from softlab.kernel.c_types import declared_types
from softlab.kernel.mangled_names import parameter_types

SOURCE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
namespace outer { namespace inner {
struct Settings { int count; };
template <typename T> struct Box { T value; };
template <typename T, typename U>
__global__ void boxes(const T* __restrict__ a, U* b, Box<T> c, Box<T>* d, Settings e, const Settings* f) {}
} }
__global__ void plain(const float* x, float* y, int n, unsigned long long m, bool flag, float4* v) {}
template <typename T, int n> __global__ void fill(T* x, const T* const y, T z) {}
template <typename T> struct Pair { T a; };
template <typename L, typename R> __global__ void many(L load, R const* r, Pair<L> p, Pair<L>* q, L* again) {}
enum class Rule { one, two };
template <typename T, Rule rule, bool flag> __global__ void ruled(const T* x, T* y, long rows) {}
__global__ void halves(__half* h, const __nv_bfloat16* b, __half2* h2, void* any, float** pointers) {}
__global__ void callback(float* x, void (*call)(int)) {}
__global__ void none() {}
"""


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("plain", "const float*, float*, int, unsigned long long, bool, float4*"),
        ("fill<double, 4>", "double*, const double*, double"),
        ("fill<__nv_bfloat16, -3>", "__nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16"),
        ("many<float, Pair<int>>", "float, const Pair<int>*, Pair<float>, Pair<float>*, float*"),
        ("ruled<__half, Rule::two, true>", "const __half*, __half*, long"),
        ("halves", "__half*, const __nv_bfloat16*, __half2*, void*, float**"),
        (
            "outer::inner::boxes<float, double>",
            "const float*, double*, outer::inner::Box<float>, outer::inner::Box<float>*, outer::inner::Settings, "
            "const outer::inner::Settings*",
        ),
        ("none", ""),
    ],
)
def test_types_of_a_mangled_name(name: str, types: str) -> None:
    entry = Kernel(SOURCE, name).program.entry
    assert ", ".join(parameter_types(entry) or ()) == types


def test_names_that_are_not_read_have_no_types() -> None:
    assert parameter_types(Kernel(SOURCE, "callback").program.entry) is None
    assert parameter_types("copy") is None
    assert parameter_types("_Z") is None
    assert parameter_types("_Z9short") is None


@pytest.mark.parametrize(
    ("declaration", "types"),
    [
        ("void k(const float* __restrict__ x, float *y, unsigned n)", ["float 1", "float 1", "unsigned int 0"]),
        ("__launch_bounds__(64) void k(double const *x, unsigned char)", ["double 1", "unsigned char 0"]),
        ("void __launch_bounds__(64, 2) k(int x[], long long int n)", ["int 1", "long long 0"]),
        ("void k(/* in */ const half* x, // out\n  float* y)", ["__half 1", "float 1"]),
        ("void k(void* x, struct S* s)", ["void 1", "struct S 1"]),
        ("void k(REAL* x, int n)", [None, "int 0"]),
        ("void k()", []),
    ],
)
def test_types_of_a_source(declaration: str, types: list[str | None]) -> None:
    source = (
        "#include <cuda_fp16.h>\n#define REAL double\nstruct S { int a; };\n// __global__ void k(char* old)\n"
        f'extern "C" __global__ {declaration} {{ }}\n'
    )
    found = declared_types(Kernel(source, "k").program)
    assert found is not None
    assert [t and f"{t.element} {t.pointers}" for t in found] == types


def test_a_source_with_two_kernels_of_the_name_has_no_types() -> None:
    source = """#if 0
extern "C" __global__ void k(float* x) {}
#else
extern "C" __global__ void k(double* x) { x[0] = 1; }
#endif"""
    kernel = Kernel(source, "k")
    assert declared_types(kernel.program) is None
    kernel.run(1, 1, (np.zeros(1, np.float32).repeat(2),))


@pytest.mark.parametrize("extern", ['extern "C" ', ""], ids=["extern C", "mangled"])
@pytest.mark.parametrize(
    ("parameter", "array", "words"),
    [
        (
            "float* x",
            np.zeros(4),
            r"array of float64, but the parameter is float\*, which takes float32. Pass x.astype",
        ),
        (
            "const float* x",
            np.zeros(4, np.int32),
            r"parameter is const float\*.*x.view\(numpy.float32\) to pass the bits",
        ),
        ("double* x", np.zeros(4, np.float32), r"x.astype\(numpy.float64\)"),
        ("int* x", np.zeros(4, np.int64), "takes int32 or uint32"),
        ("unsigned char* x", np.zeros(4, np.int32), "takes int8 or uint8 or bool"),
        ("float4* x", np.zeros(4), r"parameter is float4\*, which takes float32"),
        ("__half* x", np.zeros(4, np.float32), "takes float16"),
        ("long long x", np.array(77), r"shape \(\), but the parameter is long long.* Pass numpy.int64\(77\)"),
        ("long long x", np.zeros(3, np.int64), r"shape \(3,\), .*no pointer: the kernel would get an address"),
        ("float x", None, "argument 0 is None, a null pointer, but the parameter is float"),
        ("float* x", np.zeros(4, ">f4"), r"dtype >f4, whose byte order is not the GPU's. Pass x.astype\(x.dtype.newb"),
        ("void* x", np.zeros(4, ">i8"), "byte order"),
    ],
)
def test_arrays_of_other_types_are_refused(extern: str, parameter: str, array: np.ndarray, words: str) -> None:
    kernel = Kernel(f"#include <cuda_fp16.h>\n{extern}__global__ void k({parameter}) {{ }}", "k")
    with pytest.raises(TypeError, match=words):
        kernel.run(1, 1, (array,))


@pytest.mark.parametrize(
    ("parameter", "array"),
    [
        ("float* x", np.zeros(4, np.float32)),
        ("float4* x", np.zeros(4, np.float32)),
        ("float2* x", np.zeros(2, np.complex64)),
        ("unsigned* x", np.zeros(4, np.int32)),
        ("long* x", np.zeros(4, np.int64)),
        ("bool* x", np.zeros(4, bool)),
        ("char* x", np.zeros(4, np.uint8)),
        ("__half* x", np.zeros(4, np.float16)),
        ("__nv_bfloat16* x", np.zeros(4, ml_dtypes.bfloat16)),
        ("__nv_bfloat16* x", np.zeros(4, np.uint16)),
        ("void* x", np.zeros(4)),
        ("Settings* x", np.zeros(4, np.uint8)),
        ("float* x", np.zeros(2, [("a", "f4"), ("b", "f4")])),
        ("float* x", np.array(1, np.float32)),
        ("float* x", None),
        ("Settings x", Struct(np.int32(1), np.int32(2))),
    ],
)
def test_arrays_that_fit_are_taken(parameter: str, array: object) -> None:
    source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nstruct Settings { int a, b; };\n"
    Kernel(f"{source}__global__ void k({parameter}) {{ }}", "k").run(1, 1, (array,))


def test_none_is_a_null_pointer() -> None:
    kernel = Kernel("__global__ void k(const float* x, int* y) { y[0] = x == nullptr ? 1 : 2; }", "k")
    y = np.zeros(1, np.int32)
    kernel.run(1, 1, (None, y))
    assert y[0] == 1
    kernel.run(1, 1, (np.zeros(1, np.float32), y))
    assert y[0] == 2


def test_a_big_endian_array_within_a_struct_is_refused() -> None:
    kernel = Kernel("struct In { const float* x; }; __global__ void k(In in) { }", "k")
    with pytest.raises(TypeError, match="argument 0 has the dtype >f4"):
        kernel.run(1, 1, (Struct(np.zeros(4, ">f4")),))


def as_newer_compilers_declare(source: str, name: str = "k") -> Kernel:
    """The kernel with parameters of ``.b32`` and ``.b64``, which say nothing of the C type."""
    program = Kernel(source, name).program
    ptx = re.sub(r"\.param \.[fus](32|64) ", r".param .b\1 ", program.ptx)
    assert ptx != program.ptx
    return Kernel.from_program(replace(program, ptx=ptx))


@pytest.mark.parametrize(
    ("parameter", "value", "wanted"),
    [
        ("float", 3, 3.0),
        ("float", True, 1.0),
        ("double", -7, -7.0),
        ("const float", 2.5, 2.5),
        ("int", -3, -3.0),
        ("unsigned", 4_000_000_000, 4e9),
        ("long long", -(1 << 40), -float(1 << 40)),
        ("float", np.float32(0.5), 0.5),
    ],
)
def test_numbers_for_parameters_without_a_type(parameter: str, value: object, wanted: float) -> None:
    kernel = as_newer_compilers_declare(f'extern "C" __global__ void k({parameter} a, double* y) {{ y[0] = a; }}')
    y = np.zeros(1)
    kernel.run(1, 1, (value, y))
    assert y[0] == wanted


@pytest.mark.parametrize(
    ("parameter", "value", "kind", "words"),
    [
        ("int", 1.5, TypeError, "the parameter is int, got the float 1.5"),
        ("float", 10**39, ValueError, "beyond the largest float32"),
        ("double", 10**400, ValueError, "beyond the largest float64"),
        ("float", 1e39, ValueError, "beyond the largest float32"),
        ("int", 1 << 33, ValueError, "does not fit in 32 bits"),
        ("float", np.uint32(0x40000000), TypeError, "is float, which takes float32, got numpy.uint32"),
        ("Wrapped", 3, TypeError, "its C type is not known. Pass numpy.int32"),
        ("Wrapped", 3.0, TypeError, "or numpy.float32"),
    ],
)
def test_numbers_that_do_not_fit_a_parameter_without_a_type(
    parameter: str, value: object, kind: type[Exception], words: str
) -> None:
    source = f'typedef int Wrapped;\nextern "C" __global__ void k({parameter} a, double* y) {{ y[0] = a; }}'
    with pytest.raises(kind, match=words):
        as_newer_compilers_declare(source).run(1, 1, (value, np.zeros(1)))


def test_an_address_as_a_python_int_is_taken() -> None:
    kernel = as_newer_compilers_declare('extern "C" __global__ void k(double* p, double* y) { y[0] = p == 0; }')
    y = np.zeros(1)
    kernel.run(1, 1, (0, y))
    assert y[0] == 1


COMPOSED = """
struct In { int n; float3 v; };
struct Out { In in[2]; const double* q; float s; };
typedef struct { char c; short2 z; } Small;
struct Derived : In { int more; };
__global__ void use(float* x, Out p, float3 f, const float* const* rows, Small q, int n) {
  x[threadIdx.x] = p.in[1].v.y + p.q[1] + f.z + rows[threadIdx.x][2] + q.z.y + n;
}
__global__ void derived(Derived d) {}
"""


def composed() -> list[object]:
    rows = [np.arange(4, dtype=np.float32) + 10 * row for row in range(2)]
    out = {"in": [(1, (1, 2, 3)), {"n": 2, "v": (4, 5, 6)}], "q": np.array([0.0, 100.0]), "s": 3}
    return [np.zeros(2, np.float32), out, (1, 2, 1000), rows, (1, (2, 7)), 10000]


def test_structs_and_arrays_of_pointers() -> None:
    kernel, args = Kernel(COMPOSED, "use"), composed()
    kernel.run(1, 2, args)
    assert list(args[0]) == [11114, 11124]
    assert kernel.estimate(1, 2, args).microseconds > 0


@pytest.mark.parametrize(
    ("number", "value", "error", "message"),
    [
        (0, [1.0, 2.0], TypeError, r"argument 0: the parameter is float\*, got builtins.list"),
        (1, {"in": 1}, ValueError, "argument 1 is Out with the fields in, q, s; it lacks q, s"),
        (1, {"in": 1, "q": 1, "s": 1, "t": 1}, ValueError, "Out has no t"),
        (2, (1, 2), ValueError, r"argument 2 is float3: it takes the shape \(3,\), got \(2,\)"),
        (3, [1, 2], TypeError, "it takes a sequence of arrays"),
        (3, [np.zeros(3)] * 2, TypeError, "array of float64"),
        (5, (1,), TypeError, "argument 5 is a tuple, and the parameter's type is int"),
    ],
)
def test_structs_that_do_not_fit(number: int, value: object, error: type[Exception], message: str) -> None:
    args = composed()
    args[number] = value
    with pytest.raises(error, match=message):
        Kernel(COMPOSED, "use").run(1, 2, args)


def test_a_struct_whose_fields_are_not_known() -> None:
    kernel = Kernel(COMPOSED, "derived")
    with pytest.raises(TypeError, match="Derived of 20 bytes: what fields it has cannot be told"):
        kernel.run(1, 1, ({"more": 1},))
    kernel.run(1, 1, (bytes(20),))


def test_a_scalar_for_the_driver_has_the_bits_of_the_parameter() -> None:
    program = Kernel(SOURCE, "plain").program
    image = link(parse(program.ptx, file=program.file), program.entry)
    for index, value, bits, nbytes in ((2, -3, 2**32 - 3, 4), (3, 2**63 + 5, 2**63 + 5, 8), (4, True, 1, 1)):
        scalar = scalar_for_driver(image, index, value)
        assert (int(scalar), scalar.dtype) == (bits, np.dtype(f"u{nbytes}"))
    for index in (6, 7):
        with pytest.raises(TypeError, match=r"takes 6 arguments \(.*\), got more"):
            scalar_for_driver(image, index, 1)
    with pytest.raises((TypeError, ValueError)):
        scalar_for_driver(image, 2, 2**32)


@pytest.mark.parametrize(
    ("declared", "value", "kind", "said"),
    [
        (
            "long long",
            np.int32(2),
            TypeError,
            "is long long, which takes int64 or uint64, got numpy.int32. Pass numpy.int64",
        ),
        ("float", np.float64(2), TypeError, "is float, which takes float32, got numpy.float64. Pass numpy.float32"),
        ("float", np.int32(2), TypeError, "is float, which takes float32, got numpy.int32"),
        ("double", np.float32(2), TypeError, "is double, which takes float64"),
        ("char", 300, ValueError, "is char, and 300 does not fit in 8 bits"),
        ("unsigned", 2**32, ValueError, "is unsigned int, and 4294967296 does not fit in 32 bits"),
        ("char", "x", TypeError, "is char, got the str 'x'. Pass a number"),
        ("int", 2j, TypeError, "is int, got the complex 2j. Pass a number"),
        ("float2", 2.0, TypeError, r"is float2, got one number. Pass a tuple \(x, y\)"),
        ("double4", np.float64(1), TypeError, r"Pass a tuple \(x, y, z, w\)"),
        ("int3", np.zeros(3, np.int32), TypeError, "is int3, no pointer.* Pass a tuple of its fields"),
    ],
)
def test_a_number_that_does_not_fit_is_named_with_its_type_in_c(
    declared: str, value: object, kind: type[Exception], said: str
) -> None:
    kernel = Kernel(f"__global__ void k(double* y, {declared} a) {{ y[0] = sizeof(a); }}", "k")
    with pytest.raises(kind, match=f"argument 1.*{said}"):
        kernel.run(1, 1, (np.zeros(1), value))


@pytest.mark.parametrize("value", [2, 256, -1, 0.5, True, np.bool_(True), np.uint8(1)])
def test_a_number_for_a_bool_is_true_as_in_c(value: object) -> None:
    y = np.zeros(1)
    Kernel("__global__ void k(double* y, bool a) { y[0] = a; }", "k").run(1, 1, (y, value))
    assert y[0] == 1


class _Series:
    """Like an array of another library, without its interface."""

    def __array__(self) -> np.ndarray:
        return np.zeros(4, np.float32)


class _Count:
    def __index__(self) -> int:
        return 4


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (np.float32(3), r"float\*, got one numpy.float32. Pass a NumPy array for a pointer: numpy.array\(\[x\]\)"),
        (b"12345678", r"float\*, got builtins.bytes.*numpy.frombuffer\(x, numpy.float32\)"),
        (memoryview(b"1234"), r"float\*, got builtins.memoryview"),
        ("x", r"float\*, got builtins.str. Pass a NumPy array for a pointer"),
        (1.5, r"float\*, got builtins.float"),
        (1j, r"float\*, got builtins.complex"),
        (range(3), r"float\*, got builtins.range"),
        (np.zeros(4, "f4").flat, r"float\*, got numpy.flatiter"),
        (len, r"float\*, got builtins.builtin"),
        (np.ndarray, r"float\*, got the class numpy.ndarray. Pass an object"),
        (_Series(), r"float\*, got .*_Series"),
    ],
)
def test_what_is_no_pointer_is_told_the_parameter_as_the_source_has_it(argument: object, message: str) -> None:
    kernel = Kernel('extern "C" __global__ void k(float* x, int n) {}', "k")
    with pytest.raises(TypeError, match=f"argument 0: the parameter is {message}"):
        kernel.run(1, 1, [argument, 4], record=False)


@pytest.mark.parametrize("argument", [Decimal(4), Fraction(4), _Count(), len, int])
def test_what_is_no_number_is_told_the_parameter_as_the_source_has_it(argument: object) -> None:
    kernel = Kernel('extern "C" __global__ void k(float* x, int n) {}', "k")
    with pytest.raises(TypeError, match="argument 1: the parameter is int, got "):
        kernel.run(1, 1, [None, argument], record=False)


def test_the_advice_for_bfloat16_names_its_module() -> None:
    kernel = Kernel('#include <cuda_bf16.h>\nextern "C" __global__ void k(__nv_bfloat16* x, __nv_bfloat16 y) {}', "k")
    with pytest.raises(TypeError, match=r"x.astype\(ml_dtypes.bfloat16\).*x.view\(ml_dtypes.bfloat16\)"):
        kernel.run(1, 1, [np.zeros(2, "f2"), ml_dtypes.bfloat16(1)], record=False)
    with pytest.raises(TypeError, match=r"Pass ml_dtypes.bfloat16\(x\)"):
        kernel.run(1, 1, [None, np.float32(1)], record=False)


def test_an_array_that_begins_at_an_odd_address_is_named_itself() -> None:
    kernel = Kernel('extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }', "k")
    with pytest.raises(
        KernelFault, match=r"misaligned: .*argument 0, which has 128 bytes\. The array itself begins at"
    ):
        kernel.run(1, 32, [np.zeros(129, "u1")[1:].view("f4")], record=False)
