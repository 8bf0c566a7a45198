"""Functions of mathematics for clang: ``data/math.zip`` has them in PTX, as NVRTC made it.

CUDA's own library of such functions comes with NVIDIA's compilers alone. softlab brings what NVRTC made of one small
function for each, so that a kernel that clang compiles has the same bits. ``make programs`` writes the archive.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ARCHIVE = Path(__file__).parents[1] / "data" / "math.zip"
HEADERS = Path(__file__).parent / "headers"
MEMBER = "math.ptx"
#: With which options NVRTC makes it. Every GPU of that architecture or a newer one runs such PTX.
OPTIONS = ("-arch=compute_75", "-rdc=true", "-std=c++17")
#: PTX's names of the types of 16 bits, and CUDA's in names of conversions.
HALVES = {"f16": "half", "bf16": "bfloat16"}
_EXTERN = re.compile(r"^\.extern \.func[^;]*?\b(softlab_\w+)\s*\([^()]*\)\s*;\n?", re.MULTILINE)
_WORD = re.compile(r"[\w$]+")
#: Blocks of assembly have braces, too. NVRTC puts an empty line before the one that ends a function.
_FUNCTION = re.compile(
    r"^(?:\.visible |\.weak )?\.func\s+(?:\([^()]*\)\s*)?([\w$]+)\s*\([^()]*\)(.*?)(?:^;|^\n\}\n)",
    re.M | re.S,
)
_VARIABLE = re.compile(
    r"^(?:\.visible )?\.(?:global|const) [^;]*?\b([\w$]+)(?:\[\d*\])?\s*(?:=[^;]*)?;\n", re.MULTILINE
)


def source() -> str:
    """CUDA C++ with one function for each that ``softlab_math.h`` and ``softlab_half.h`` declare, for NVRTC."""
    header = (HEADERS / "softlab_math.h").read_text()
    one = re.findall(r"^SOFTLAB_(?:FAST_)?OF_ONE\((\w+)\)$", header, re.MULTILINE)
    two = re.findall(r"^SOFTLAB_OF_TWO\((\w+)\)$", header, re.MULTILINE)
    declared = re.findall(r"^SOFTLAB_FUNCTION (\w+) softlab_(\w+)\(([\w, ]+)\);$", header, re.MULTILINE)
    every = [(T, f"{name}{end}", T) for name in one for T, end in (("float", "f"), ("double", ""))]
    every += [(T, f"{name}{end}", f"{T}, {T}") for name in two for T, end in (("float", "f"), ("double", ""))]
    halves = re.findall(r"^  SOFTLAB_HALF_ONE\(Half, (\w+), type\)", (HEADERS / "softlab_half.h").read_text(), re.M)
    includes = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
    of_halves = (_of_half(kind, f"h{name}") for kind in HALVES for name in halves)
    return includes + "".join([*(_defined(*each) for each in [*every, *declared]), *of_halves])


def _of_half(kind: str, name: str) -> str:
    """A function of the bits of a half: a compiler hands structs of two bytes over in its own way."""
    plain = HALVES[kind]
    result = f"__{plain}_as_ushort({name}(__ushort_as_{plain}((unsigned short)x)))"
    return f'extern "C" __device__ unsigned int softlab_{kind}_{name}(unsigned int x) {{ return {result}; }}\n'


def _defined(result: str, name: str, types: str) -> str:
    parameters = [f"{kind} x{k}" for k, kind in enumerate(types.split(", "))]
    arguments = ", ".join(f"x{k}" for k in range(len(parameters)))
    called = f"__{name}" if name.endswith("_rn") else name
    head = f'extern "C" __device__ {result} softlab_{name}({", ".join(parameters)})'
    return f"{head} {{ return {called}({arguments}); }}\n"


def write_library(ptx: str, file: Path = ARCHIVE) -> None:
    """Write the archive: the same bytes for the same PTX."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(MEMBER, (1980, 1, 1, 0, 0, 0)), ptx, zipfile.ZIP_LZMA)


def with_functions(ptx: str) -> str:
    """The PTX with the functions that it calls, and with what these use, before its own."""
    wanted = _EXTERN.findall(ptx)
    if not wanted:
        return ptx
    at = ptx.index("\n", ptx.index(".address_size")) + 1
    return f"{ptx[:at]}{''.join(_needed(wanted))}{_EXTERN.sub('', ptx[at:])}"


def _needed(names: list[str]) -> Iterator[str]:
    """The texts of functions and of what they use, what is used first."""
    items, order, seen = _items(), [], set(names)
    pending = list(names)
    while pending:
        name = pending.pop()
        order.append(name)
        used = {word for word in _WORD.findall(items[name]) if word in items} - {name}
        pending += used - seen
        seen |= used
    return (items[name] for name in items if name in seen)


@lru_cache(maxsize=1)
def _items() -> dict[str, str]:
    """Symbol -> the text of a variable or a function of the library, variables first, callers last."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        text = archive.read(MEMBER).decode()
    variables = {found[1]: found[0] for found in _VARIABLE.finditer(text)}
    functions = {found[1]: found[0] for found in _FUNCTION.finditer(text) if not found[0].endswith(";")}
    return variables | functions
