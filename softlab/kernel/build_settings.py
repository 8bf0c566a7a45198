"""What a file needs beyond its text, which nvcc's command or its host compiler would give it.

Some of it shows in the text, such as more of namespace std than softlab's own header has. The rest shows in the
compiler's log of a first attempt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from softlab.cuda.compile import CUTLASS
from softlab.cuda.program import RELOCATABLE
from softlab.cuda.shims import (
    AS_NVCC,
    BARRIERS,
    EIGHTHS,
    HALVES,
    OF_CUTLASS,
    OPERATORS,
    PIPELINE,
    STANDARD,
    WHOLE,
    further,
    shim_headers,
)
from softlab.cuda.shims.host_types import HOST_TYPES
from softlab.kernel.gnu_forms import (
    ASKED,
    MACROS,
    NO_LENGTH,
    REDEFINED,
    SPECIFIERS,
    conditionals,
    names_macros,
    names_nvrtc,
)

_HALF = re.compile(r"\b(?:__)?half2?\b|\b__nv_bfloat16|\b__half2float\b")
#: What NVRTC has otherwise than nvcc.
_NVCC = re.compile(r"\bu?int64_t\b|\b__NVCC__\b")
_CODE = re.compile(r"\S")
_BESIDE_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE | re.DOTALL)
#: Initializers that name their members, which nvcc takes in C++17 and NVRTC from C++20 on; and concepts.
_CPP20 = re.compile(r"[{,]\s*\.[A-Za-z_]\w*\s*=[^=]|\bconcept\s+\w+\s*=")
#: What only C++20 has, in a line that the compiler shows with an error.
_NEWER = re.compile(
    r"^(?!\S+\(\d+\): ).*(?:\b(?:concept|requires|consteval|constinit|using\s+enum)\b|<=>)"
    r"|error: (?:a destructor cannot be constexpr|use the \"typename\" keyword|no suitable constructor exists"
    r"|argument list for variable template|a lambda is not allowed in an unevaluated expression|.* a C\+\+20 feature"
    r"|nontype \".*\" is not a type name|\"auto\" is not allowed here)",
    re.MULTILINE,
)
_OF_STD = re.compile(r"\bstd::(\w+)")
_OPERATORS = re.compile(r"\bcub::(?:Max|Min|Sum|Equality|Inequality|ArgMax|ArgMin)\b")
_OWN_OPERATORS = re.compile(r"\bstruct\s+(?:Inequality|ArgMax)\b")
_POWER = re.compile(r"\bpow\s*\(")
_REFERENCES = re.compile(r"\b__constant__ (?:static )?(?:texture|surface)\s*<")
_PIPELINE = re.compile(r"cuda_pipeline|cuda/pipeline|memcpy_async|cuda/barrier")
_BARRIERS = re.compile(r"cuda_awbarrier|__mbarrier_")
#: A list in braces that makes a number narrower: nvcc warns, as g++ does.
_NARROWING, _ALLOWED = re.compile(r"error: invalid narrowing conversion"), "--diag-warn=2361"
_UNANNOTATED = re.compile(r"(?:are|is) not allowed in JIT mode\. Consider")
_LACKING = re.compile(r'(?:namespace "std"|class "std::[^"]*") has no (?:actual )?member|namespace "thrust"')
#: What the compiler says of warp intrinsics without ``_sync``, and the assembler.
_OLD_INTRINSICS = re.compile(
    r"""identifier "__(?:shfl(?:_up|_down|_xor)?|any|all|ballot)" is undefined|'vote' without '\.sync'"""
)
#: What device code names of PyTorch, and the folders of PyTorch's headers.
_TORCH = re.compile(
    r"\b(?:at|c10|torch)\b\s*(?:::|;)|\bC10_[A-Z]|\bCUDA_KERNEL_(?:LOOP|ASSERT)|\bgpuAtomic|\bWARP_(?:SHFL|BALLOT)"
)
_TORCH_FOLDERS = ("torch", "ATen", "c10", "THC")
_GLM = re.compile(r"\bglm\b")
_DIRECTX = re.compile(r"\bDirectX\s*::")
_OPENCV, _OPENCV_FOLDERS = re.compile(r"\bPtrStep"), ("opencv", "opencv2")
#: Headers of softlab's own in place of Thrust's, and what device code names of them.
_OWN_OF_THRUST = {
    "thrust_types.h": re.compile(
        r"\bthrust::(?:(?:host|device|universal)_vector|device_ptr|(?:raw|device)_pointer_cast)\b"
    ),
    "thrust_algorithms.h": re.compile(
        r"\bthrust::(?:(?:all|any|none)_of|binary_search|copy(?:_if|_n)?|count(?:_if)?|distance|equal"
        r"|(?:in|ex)clusive_scan|fill(?:_n)?|find(?:_if)?|for_each(?:_n)?|inner_product|(?:lower|upper)_bound"
        r"|(?:min|max)_element|(?:transform_)?reduce|remove_if|reverse|sequence|(?:stable_)?sort(?:_by_key)?|swap"
        r"|transform|unique)\s*\("
    ),
}
#: Headers of Thrust and libcu++ that NVRTC can compile, and what device code names of them.
_THRUST_HEADERS = {
    "thrust/functional.h": re.compile(
        r"\bthrust::(?:plus|minus|multiplies|divides|modulus|negate|square|maximum|minimum|identity|project1st|project2nd"
        r"|equal_to|not_equal_to|greater|greater_equal|less|less_equal|logical_\w+|bit_\w+)\b"
    ),
    "thrust/random.h": re.compile(
        r"\bthrust::(?:random::)?(?:\w+_engine\w*|minstd_rand0?|ranlux\w+|taus88|(?:uniform|normal)_\w+distribution)\b"
    ),
    "thrust/iterator/counting_iterator.h": re.compile(r"\bthrust::(?:make_)?counting_iterator\b"),
    "cuda/std/expected": re.compile(r"\bstd::(?:expected|unexpected|unexpect)\b"),
    "cuda/std/mdspan": re.compile(r"\bstd::(?:mdspan|d?extents|layout_(?:left|right|stride))\b"),
}
#: What Thrust's complex numbers include for the host: operators of its streams.
_COMPLEX, _OF_STREAMS = "thrust/complex.h", {"thrust/detail/complex/stream.h": ""}
_RANDOM = "thrust/random.h"
_NO_INTRINSICS = "__shfl, __any, __all and __ballot without _sync are gone since sm_70: here they take __activemask()"
_NO_MACROS = "#if finds no macro of g++ or Linux in this program, such as __GNUC__: with them it does not compile here"
_OF_NVRTC = (
    "#if finds NVRTC's macros in this program, such as __CUDACC_RTC__, and nvcc does not define them: without them it "
    "does not compile here"
)
_LAUNCHES = re.compile(
    r"""device-side kernel launch|identifier "cuda(?:DeviceSynchronize|Stream\w+|Event\w+|(?:Get|PeekAt)LastError"""
    r"""|Malloc|Free|MemcpyAsync|MemsetAsync)" is undefined"""
)
_ORDERINGS = re.compile(r'has no member "(?:strong|weak|partial)_ordering"|no valid std::\w+_ordering type found')
_AMBIGUOUS = re.compile(r'more than one instance of overloaded function "(?:std::)?(\w+)" matches')
#: Macros of g++ that say the largest and the smallest number of a type.
LIMITS = {
    "__SCHAR_MAX__": "127",
    "__SHRT_MAX__": "32767",
    "__INT_MAX__": "2147483647",
    "__LONG_MAX__": "9223372036854775807L",
    "__LONG_LONG_MAX__": "9223372036854775807LL",
    "__FLT_MAX__": "3.40282346638528859811704183484516925e+38F",
    "__FLT_MIN__": "1.17549435082228750796873653722224568e-38F",
    "__FLT_EPSILON__": "1.19209289550781250000000000000000000e-7F",
    "__DBL_MAX__": "1.79769313486231570814527423731704357e+308",
    "__DBL_MIN__": "2.22507385850720138309023271733240406e-308",
    "__DBL_EPSILON__": "2.22044604925031308084726333618164062e-16",
}
#: Formats of <inttypes.h>, in a line that the compiler shows with an error, and what stands before their letter.
_FORMATS = re.compile(r"\bPRI([diouxX])(8|16|32|64|MAX|PTR)\b")
_LENGTHS = {"8": "hh", "16": "h", "32": ""}
#: nvcc warns of ``register``, which has no meaning since C++17, and goes on.
_REFUSED, _REGISTER = re.compile(r'use of the "register" storage class specifier'), "register="
_EIGHTH = re.compile(r"\b__nv_fp8")
_LONG_ATOMICS = re.compile(r'no instance of overloaded function "atomic\w+" matches')
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
#: Files with the commands that build a program, and how many folders up they are looked for.
_BUILD_FILES = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt")
_LEVELS_UP = 2
#: A macro that they define.
_DEFINED = re.compile(
    r"""(?<!\w)-D[ \t]*(?P<name>[A-Za-z_]\w*)"""
    r"""(?:=(?:(?P<mark>["'])(?P<quoted>[^"'\n]*)(?P=mark)|(?P<value>[\w.+:-]+)))?(?=[\s"')]|$)"""
)
_CMAKE_DEFINITIONS = re.compile(r"\b(?:add|target)_compile_definitions\s*\(([^()]*)\)")
_CMAKE_DEFINITION = re.compile(r"(?<![\w=])([A-Za-z_]\w*)(?:=([\w.+:-]+))?(?![\w=])")


@dataclass(frozen=True)
class Settings:
    """How a source is compiled.

    ``whole``: with all of namespace std. ``unannotated``: functions without ``__device__`` are the device's.
    ``halves``: with the types of 16 bits. ``nvcc``: with nvcc's macro and integers. ``cpp20``: as C++20. ``operators``,
    ``pipeline``, ``barriers``, ``references``, ``old_intrinsics``: with :data:`softlab.cuda.shims.OPERATORS`,
    ``PIPELINE``, ``BARRIERS``, texture references, and intrinsics such as ``__shfl``.
    ``long_atomics``: with atomics on integers that are long.
    ``mixed_math``: with mathematical functions of integers, and of float together with double. ``powers``: a call of
    ``pow`` that asks for them is an error.
    ``orderings``: with what C++20's three-way comparison gives.
    ``gcc``: conditionals see macros of g++ on Linux, as with nvcc. ``not_gcc``: they do not, as a compilation failed.
    ``hidden``: conditionals see no macro of NVRTC, as with nvcc. ``shown``: they do, as a compilation failed.
    ``gnu``: with forms of GNU C++ and of nvcc's lambdas.
    ``lengths``: without arrays of no length at the end of a struct.
    ``redefined``: texture references that headers only declare, as the file has them, too.
    ``specifiers``: with one ``inline`` per declaration, and ``__restrict__`` behind a ``*``.
    ``narrowing``: lists in braces may make numbers narrower.
    ``launches``: with what device code calls to launch kernels. ``torch``, ``opencv``, ``glm``, ``directx``: with types
    of these libraries.
    ``cutlass``: with the numbers that CUTLASS's headers name themselves.
    ``thrust``: with these headers of Thrust, of softlab for it, or of libcu++. ``complex``: with Thrust's complex
    numbers.
    ``eighths``: with the types of 8 bits. ``constants``: with CUDA's mathematical ones. ``int128``: with integers of
    128 bits. ``defined``: macros of the command that builds the program, "NAME=value". ``host_types``: names of
    :data:`softlab.cuda.shims.host_types.HOST_TYPES` that are declared.
    """

    whole: bool = False
    unannotated: bool = False
    halves: bool = False
    nvcc: bool = False
    cpp20: bool = False
    operators: bool = False
    pipeline: bool = False
    barriers: bool = False
    references: bool = False
    old_intrinsics: bool = False
    long_atomics: bool = False
    powers: bool = False
    mixed_math: bool = False
    orderings: bool = False
    gcc: bool = False
    not_gcc: bool = False
    hidden: bool = False
    shown: bool = False
    gnu: bool = False
    lengths: bool = False
    redefined: tuple[str, ...] = ()
    specifiers: bool = False
    narrowing: bool = False
    launches: bool = False
    torch: bool = False
    opencv: bool = False
    glm: bool = False
    directx: bool = False
    cutlass: bool = False
    thrust: tuple[str, ...] = ()
    eighths: bool = False
    constants: bool = False
    int128: bool = False
    complex: bool = False
    defined: tuple[str, ...] = ()
    host_types: tuple[str, ...] = ()

    @classmethod
    def of(cls, texts: Sequence[str], missing: Sequence[str]) -> Settings:
        """What the texts of a source and its headers show. ``missing``: the includes that were not found."""
        asked = conditionals(texts)
        texts = [text for text in texts if _has_code(text)]
        own = _names_of_std()
        names = {name for text in texts for name in _OF_STD.findall(text)}
        nvcc = "__NVCC__" in asked or any(_NVCC.search(text) for text in texts)
        listed = {**_OWN_OF_THRUST, **_THRUST_HEADERS}
        thrust = [name for name, used in listed.items() if any(used.search(text) for text in texts)]
        return cls(
            whole=not names <= own or _RANDOM in thrust,
            # Thrust's generators have functions without attributes.
            unannotated=_RANDOM in thrust,
            # A header that is missing, such as PyTorch's, may be what brings these types.
            halves=bool(missing) and any(_HALF.search(text) for text in texts),
            nvcc=nvcc,
            gcc=names_macros(asked),
            hidden=names_nvrtc(asked),
            cpp20=any(_CPP20.search(text) for text in texts),
            # A program's own copy of CUB has them.
            operators=any(_OPERATORS.search(text) for text in texts)
            and not any(_OWN_OPERATORS.search(text) for text in texts),
            pipeline=nvcc and any(_PIPELINE.search(text) for text in texts),
            barriers=nvcc and any(_BARRIERS.search(text) for text in texts),
            powers=any(_POWER.search(text) for text in texts),
            references=any(_REFERENCES.search(text) for text in texts),
            # PyTorch's headers bring CUDA's constants.
            constants=bool(missing) and any("CUDART_" in text for text in texts),
            eighths=any(_EIGHTH.search(text) for text in texts),
            torch=any(name.split("/")[0] in _TORCH_FOLDERS for name in missing)
            and any(_TORCH.search(text) for text in texts),
            opencv=any(name.split("/")[0] in _OPENCV_FOLDERS for name in missing)
            and any(_OPENCV.search(text) for text in texts),
            directx="DirectXMath.h" in missing and any(_DIRECTX.search(text) for text in texts),
            glm=any(name.split("/")[0] == "glm" for name in missing) and any(_GLM.search(text) for text in texts),
            cutlass=any(CUTLASS.search(text) for text in texts),
            thrust=tuple(thrust),
            complex=any(_COMPLEX in text for text in texts),
        )

    def after(self, log: str, path: Path | None, strict: bool = False) -> Settings:
        """These, and what the log of a failed attempt asks for.

        ``path``: the file, None for a text. ``strict``: as nvcc, for which functions without ``__device__`` are the
        host's. Only then are launches by device code compiled: without them, the file's other kernels have machine
        code.
        """
        wanted = dict.fromkeys([*_UNDEFINED.findall(log), *_not_types(log)])
        known = {one.partition("=")[0] for one in self.defined}
        found = [f"{name}={value}" for name, value in _macros_of_build(path, wanted) if name not in known]
        return replace(
            self,
            whole=self.whole or bool(_LACKING.search(log)),
            complex=self.complex or any(name in log for name in _OF_STREAMS),
            int128=self.int128 or "--device-int128" in log,
            cpp20=self.cpp20 or bool(_NEWER.search(log)) or bool(_ORDERINGS.search(log)),
            gnu=self.gnu or bool(ASKED.search(log)),
            redefined=tuple(dict.fromkeys([*self.redefined, *REDEFINED.findall(log)])),
            specifiers=self.specifiers or bool(SPECIFIERS.search(log)),
            lengths=self.lengths or bool(NO_LENGTH.search(log)),
            narrowing=self.narrowing or bool(_NARROWING.search(log)),
            launches=self.launches or (strict and bool(_LAUNCHES.search(log))),
            long_atomics=self.long_atomics or bool(_LONG_ATOMICS.search(log)),
            mixed_math=self.mixed_math or not _names_of_mixed_math().isdisjoint(_AMBIGUOUS.findall(log)),
            orderings=self.orderings or bool(_ORDERINGS.search(log)),
            old_intrinsics=self.old_intrinsics or bool(_OLD_INTRINSICS.search(log)),
            unannotated=self.unannotated or (not strict and asks_for_unannotated(log)),
            defined=(
                *self.defined,
                *found,
                *(f"{name}={LIMITS[name]}" for name in wanted if name in LIMITS),
                *_formats(log),
                *([_REGISTER] if _REFUSED.search(log) else []),
            ),
            host_types=(*self.host_types, *(name for name in wanted if name in HOST_TYPES)),
        )

    def less_like_nvcc(self) -> Settings:
        """These, where conditionals see one kind of macros less as with nvcc; the same where no kind is left."""
        if self.hidden:
            return replace(self, hidden=False, shown=True)
        return replace(self, gcc=False, not_gcc=True) if self.gcc else self

    def options(self, given: Sequence[str]) -> tuple[str, ...]:
        """Options of the compiler before those that are given."""
        newer = self.cpp20 and not any("-std=" in option for option in given)
        return (
            *(["-std=c++20"] if newer else []),
            *(["--device-as-default-execution-space"] if self.unannotated else []),
            *(["--device-int128"] if self.int128 else []),
            *([_ALLOWED] if self.narrowing else []),
            *([RELOCATABLE] if self.launches else []),
            *(f"-D{one}" for one in self.defined),
        )

    def remarks(self) -> tuple[str, ...]:
        """What to say of a kernel that does not run as it is written."""
        return (
            *([_NO_INTRINSICS] if self.old_intrinsics else []),
            *([_NO_MACROS] if self.not_gcc else []),
            *([_OF_NVRTC] if self.shown else []),
        )

    def headers(self) -> dict[str, str]:
        """Headers of libraries in the form that the compiler can take, by their names."""
        return {**(_OF_STREAMS if self.complex else {}), **(OF_CUTLASS if self.cutlass else {})}

    def first(self) -> str:
        """The text that stands before the source."""
        return (
            ("#define SOFTLAB_WHOLE_STANDARD\n" if self.whole else "")
            + (further("power_of_integer.h") if self.powers and not self.mixed_math else "")
            + (AS_NVCC if self.nvcc else f"#include <{STANDARD}>\n")
            + (MACROS if self.gcc else "")
            + (HALVES if self.halves else "")
            + (EIGHTHS if self.eighths else "")
            + ("#include <math_constants.h>\n" if self.constants else "")
            + (OPERATORS if self.operators else "")
            + (PIPELINE if self.pipeline else "")
            + (BARRIERS if self.barriers else "")
            + (further("texture_references.h") if self.references else "")
            + (further("old_intrinsics.h") if self.old_intrinsics else "")
            + (further("long_atomics.h") if self.long_atomics else "")
            + (further("mixed_math.h") if self.mixed_math else "")
            + (further("orderings.h") if self.orderings else "")
            + (further("gnu_forms.h") if self.gnu else "")
            + (further("device_launches.h") if self.launches else "")
            + (further("torch_types.h") if self.torch else "")
            + (further("opencv_types.h") if self.opencv else "")
            + (further("glm_types.h") if self.glm else "")
            + (further("directx_types.h") if self.directx else "")
            + (further("cutlass_numbers.h") if self.cutlass else "")
            + "".join(further(name) if name in _OWN_OF_THRUST else f"#include <{name}>\n" for name in self.thrust)
            + "".join(f"{HOST_TYPES[name]}\n" for name in self.host_types)
        )


def not_as_nvcc(asked: str) -> bool:
    """Whether conditionals, the text ``asked``, name macros that NVRTC and nvcc do not define alike."""
    return names_macros(asked) or names_nvrtc(asked) or "__NVCC__" in asked


def said_of_macros(asked: str) -> tuple[str, ...]:
    """What to say where the compiler's own macros answer the conditionals ``asked``."""
    return Settings(not_gcc=names_macros(asked), shown=names_nvrtc(asked)).remarks()


def _formats(log: str) -> list[str]:
    """Definitions of the formats of <inttypes.h> that a log shows."""
    found = dict.fromkeys(_FORMATS.findall(log))
    return [f'PRI{letter}{bits}="{_LENGTHS.get(bits, "l")}{letter}"' for letter, bits in found]


def asks_for_unannotated(log: str) -> bool:
    """Whether the compiler refuses functions because they have no ``__device__``."""
    return bool(_UNANNOTATED.search(log))


def _has_code(text: str) -> bool:
    """Whether a text has more than comments and directives of the preprocessor."""
    return bool(_CODE.search(_BESIDE_CODE.sub("", text)))


@lru_cache(maxsize=1)
def _names_of_std() -> set[str]:
    """The words of softlab's own part of namespace std."""
    text: Mapping[str, str] = shim_headers()
    _, _, own = text[STANDARD].partition(f"#include <{WHOLE}>")
    return {*re.findall(r"\w+", own), "initializer_list"}


@lru_cache(maxsize=1)
def _names_of_mixed_math() -> set[str]:
    return set(re.findall(r"^SOFTLAB_OF_\w+\((\w+)\)$", further("mixed_math.h"), re.MULTILINE))


def _not_types(log: str) -> Iterator[str]:
    """The words at which the compiler expected a type: it shows their line, and a mark under them."""
    for line, blanks in re.findall(r"error: expected a type specifier\n(.*)\n( *)\^", log):
        if word := re.match(r"[A-Za-z_]\w*", line[len(blanks) :]):
            yield word[0]


def _macros_of_build(path: Path | None, wanted: Mapping[str, None]) -> Iterator[tuple[str, str]]:
    """The macros with these names that a program's own files for building it define, by ``-D`` or in CMake's commands,
    each once."""
    found: dict[str, str] = {}
    for folder in list(path.resolve().parents)[: _LEVELS_UP + 1] if path else ():
        for name in _BUILD_FILES:
            file = folder / name
            text = file.read_text(errors="replace") if wanted and file.is_file() else ""
            written = [(match["name"], match["quoted"] or match["value"]) for match in _DEFINED.finditer(text)]
            for command in _CMAKE_DEFINITIONS.findall(text):
                written += [(name, value) for name, value in _CMAKE_DEFINITION.findall(command)]
            for macro, value in written:
                if macro in wanted:
                    found.setdefault(macro, value or "1")
    yield from found.items()
