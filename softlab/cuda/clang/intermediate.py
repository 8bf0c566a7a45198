"""What softlab does with LLVM's intermediate code between clang's two steps: C++ to code, and code to PTX.

clang notes a kernel's ``__cluster_dims__`` there, and makes no PTX of it. And it copies a ``float4`` as two words of 8
bytes; NVRTC copies it whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

#: A copy of 16 bytes between addresses that are multiples of 16.
_COPY = re.compile(
    r"call void @llvm\.memcpy\.p0\.p0\.i64\(ptr (?:noundef |nonnull )*align 16 (?:dereferenceable\(\d+\) )?([^\n]+?), "
    r"ptr (?:noundef |nonnull )*align 16 (?:dereferenceable\(\d+\) )?([^\n]+?), i64 16, i1 false\)"
    r"(?: #\d+)?((?:, !dbg !\d+)?)[^\n]*"
)
_DEFINITION = re.compile(r"^define .*?^\}$", re.MULTILINE | re.DOTALL)
#: A local variable, and an address in something.
_LOCAL = re.compile(r"^\s*(%\S+) = alloca ", re.MULTILINE)
_PART = re.compile(r"^\s*(%\S+) = getelementptr [^\n]*?ptr (%[^\s,]+)", re.MULTILINE)
_ENTRY = re.compile(r"(^\.visible \.entry ([\w$]+)\s*\([^()]*\)[^\n;{]*\n)(?=[.{])", re.MULTILINE)
_NOTE = re.compile(r"\{ ptr (@[^,]+), ptr (@[^,]+), ptr [^,]+, i32 \d+, ptr (\S+) \}")
_TEXT = re.compile(r'^(@\S+) = [^\n]* c"softlab-cluster\\00"', re.MULTILINE)
_NUMBERS = re.compile(r"^(@\S+) = [^\n]* constant \{ i32[^}]*\} \{([^}]*)\}", re.MULTILINE)


def with_whole_copies(code: str) -> str:
    """The code with each aligned copy of 16 bytes as one load and one store of a vector."""
    numbers = count()
    return _DEFINITION.sub(lambda found: _with_whole_copies(found[0], numbers), code)


def _with_whole_copies(function: str, numbers: Iterator[int]) -> str:
    """The same in one function. A copy from or to a local variable stays: LLVM takes such variables apart."""
    local = set(_LOCAL.findall(function))
    local |= {name for name, of in _PART.findall(function) if of in local}

    def whole(found: re.Match[str]) -> str:
        if {found[1], found[2]} & local:
            return found[0]
        value = f"%softlab.whole.{next(numbers)}"
        load = f"{value} = load <4 x i32>, ptr {found[2]}, align 16{found[3]}"
        return f"{load}\n  store <4 x i32> {value}, ptr {found[1]}, align 16{found[3]}"

    return _COPY.sub(whole, function)


def with_clusters(ptx: str, code: str) -> str:
    """The PTX with the cluster sizes that the intermediate code notes of kernels."""
    sizes = dict(_clusters(code))

    def sized(found: re.Match[str]) -> str:
        if found[2] not in sizes:
            return found[0]
        whole = (*sizes[found[2]], 1, 1)[:3]
        return f"{found[1]}.explicitcluster\n.reqnctapercluster {', '.join(map(str, whole))}\n"

    return _ENTRY.sub(sized, ptx) if sizes else ptx


def _clusters(code: str) -> list[tuple[str, tuple[int, ...]]]:
    """(kernel, sizes) of each note."""
    every = re.search(r"^@llvm\.global\.annotations = ([^\n]*)", code, re.MULTILINE)
    if every is None:
        return []
    texts = set(_TEXT.findall(code))
    numbers = {name: tuple(int(n) for n in re.findall(r"i32 (-?\d+)", held)) for name, held in _NUMBERS.findall(code)}
    notes = _NOTE.findall(every[1])
    return [(kernel[1:].strip('"'), numbers[held]) for kernel, text, held in notes if text in texts and held in numbers]
