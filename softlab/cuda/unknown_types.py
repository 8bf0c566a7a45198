"""Kernel templates whose first parameter may have an unknown type.

NVRTC 12.9 ends the whole process at the name ``k<float>`` of ``template <typename T> __global__ void k(Unknown* x)``,
where nothing declares the type: ``Unknown * x`` then reads as a product, and the kernel as a variable. So it does for
``library::Unknown x``, for ``UNKNOWN const T* x``, where nothing defines the macro, and in C++17 for ``T* x`` after
``template <Concept T>``. Such a source is compiled without the name first, which gives an error like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: The first parameter of a kernel with one of these names.
_FIRST = r"\b__global__\b[^;{}]*?\b(?:%s)\s*\(\s*([^,()]*)"
#: The first word of a parameter's type, after (group 1) the namespaces around it, and (group 3) what follows: a star,
#: template arguments, or further words of the type.
_TYPE = re.compile(r"((?:\w+\s*::\s*)*)([A-Za-z_]\w*)(\s*[*<]|\s+\w+\b\s*[^\s=\[])?")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER = re.compile(r"\b(?:typename|class)\s+(\w+)")
#: Types that the compiler itself has, and words before a type.
_KNOWN = re.compile(
    r"const|volatile|typename|struct|unsigned|signed|bool|char|short|int|long|float|double|void|size_t|u?int(?:8|16|32|64)_t"
    r"|(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|half2?|__half2?|(?:__)?nv_bfloat162?"
)


def may_be_unknown(texts: Iterable[str], names: Iterable[str]) -> bool:
    """Whether one of these names, such as ``"k<float>"``, may be a kernel of these texts whose first parameter has an
    unknown type."""
    wanted = {re.findall(r"\w+", name.partition("<")[0])[-1] for name in names if re.search(r"\w\s*<", name)}
    first = re.compile(_FIRST % "|".join(wanted))
    for text in texts:
        if not any(name in text for name in wanted):
            continue
        plain = _COMMENT.sub(" ", text)
        for found in first.finditer(plain):
            head = re.split(r"[;{}]", plain[: found.start()])[-1]
            own = _PARAMETER.findall(head if "template" in head else plain)
            kind = _TYPE.match(found[1])
            if kind and (kind[1] or kind[3]) and kind[2] not in own and not _KNOWN.fullmatch(kind[2]):
                return True
    return False
